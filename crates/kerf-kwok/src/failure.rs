//! Calls that failed.

use kerf_engine::event::Failure;

/// Whatever the API server meant, trying again may help.
pub(crate) fn unavailable(error: kube::Error) -> Failure {
    let message = match error {
        kube::Error::Api(status) => status.message.clone(),
        error => error.to_string(),
    };
    Failure::Unavailable { message }
}
