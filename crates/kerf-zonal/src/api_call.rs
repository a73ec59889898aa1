//! One call to the API server, and what its failure means.

use std::time::Duration;

use thiserror::Error;
use tokio::time::timeout;

/// A call without an answer for so long is given up; what it did shows in the objects.
const CALL_WITHIN: Duration = Duration::from_secs(30);

/// Why a call came to nothing, by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApiFailure {
    /// The object changed meanwhile, or exists already. It helps to look again.
    #[error("it changed meanwhile")]
    Conflict,
    /// There is no such object.
    #[error("it is not there")]
    NotFound,
    /// A permission is missing. It helps to grant it.
    #[error(
        "not allowed: {0}; apply deploy/zonal-autoshift.yaml or grant it to the account in use"
    )]
    Denied(String),
    /// The API server does not accept the object, and would not the next time.
    #[error("refused: {0}")]
    Refused(String),
    /// No answer, or an error of the server. Trying again may help.
    #[error("the API server does not answer as it should: {0}")]
    Unavailable(String),
}

/// Makes a call that has a deadline.
pub(crate) async fn call<T>(
    answer: impl Future<Output = kube::Result<T>>,
) -> Result<T, ApiFailure> {
    match timeout(CALL_WITHIN, answer).await {
        Ok(answer) => answer.map_err(ApiFailure::from),
        Err(_) => {
            let why = format!("no answer within {} s", CALL_WITHIN.as_secs());
            Err(ApiFailure::Unavailable(why))
        }
    }
}

impl From<kube::Error> for ApiFailure {
    fn from(error: kube::Error) -> Self {
        let kube::Error::Api(status) = error else {
            return Self::Unavailable(error.to_string());
        };
        let message = status.message.clone();
        match status.code {
            404 => Self::NotFound,
            409 => Self::Conflict,
            401 | 403 => Self::Denied(message),
            400 | 405 | 413 | 422 => Self::Refused(message),
            _ => Self::Unavailable(message),
        }
    }
}
