//! What an error of the API server means.

use kerf_engine::event::{Failure, Outcome};

/// The outcome of a call that failed. What is not there any more needs nothing more.
pub(super) fn outcome(error: kube::Error) -> Outcome {
    match error {
        kube::Error::Api(status) => match status.code {
            404 => Outcome::NotFound,
            401 | 403 => Outcome::Failed(Failure::Denied { message: status.message.clone() }),
            409 => Outcome::Failed(Failure::Conflict),
            400 | 405 | 413 | 422 => {
                Outcome::Failed(Failure::Invalid { message: status.message.clone() })
            }
            _ => Outcome::Failed(Failure::Unavailable { message: status.message.clone() }),
        },
        error => Outcome::Failed(Failure::Unavailable { message: error.to_string() }),
    }
}
