//! What an error of the API server means.

use kerf_engine::event::{Failure, Outcome};
use kerf_engine::time::Span;

/// The outcome of a call that failed. What is not there any more needs nothing more.
pub(super) fn outcome(error: kube::Error) -> Outcome {
    match error {
        kube::Error::Api(status) => match status.code {
            404 => Outcome::NotFound,
            403 => Outcome::Failed(Failure::Denied { message: status.message.clone() }),
            409 => Outcome::Failed(Failure::Conflict),
            400 | 405 | 413 | 422 => {
                Outcome::Failed(Failure::Invalid { message: status.message.clone() })
            }
            _ => Outcome::Failed(unavailable(kube::Error::Api(status))),
        },
        error => Outcome::Failed(unavailable(error)),
    }
}

/// A failure that may pass, with the time the server asks for. Credentials that it does not accept
/// (401) are of this kind: they are renewed, and clocks are set right.
#[must_use]
pub fn unavailable(error: kube::Error) -> Failure {
    let kube::Error::Api(status) = error else {
        return Failure::Unavailable { message: error.to_string() };
    };
    let message = status.message.clone();
    match status.details.as_ref().map_or(0, |details| details.retry_after_seconds) {
        0 => Failure::Unavailable { message },
        seconds => Failure::Throttled { message, retry_after: Span::from_seconds(seconds.into()) },
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use serde_json::json;

    use super::*;

    fn meant(code: u16, seconds: u32) -> Failure {
        let status = json!({ "code": code, "message": "no",
            "details": { "retryAfterSeconds": seconds } });
        let status: Status = serde_json::from_value(status).expect("it is a Status");
        match outcome(kube::Error::Api(status.boxed())) {
            Outcome::Failed(failure) => failure,
            outcome => panic!("{outcome:?}"),
        }
    }

    #[test]
    fn a_server_that_says_how_long_to_wait_is_taken_at_its_word() {
        let (message, retry_after) = ("no".to_owned(), Span::from_seconds(7));
        let throttled = Failure::Throttled { message, retry_after };
        assert_eq!((meant(429, 7), meant(503, 7)), (throttled.clone(), throttled));
    }

    #[test]
    fn credentials_that_are_not_accepted_are_no_missing_right() {
        let message = "no".to_owned();
        assert_eq!(meant(403, 0), Failure::Denied { message: message.clone() });
        assert_eq!(meant(401, 0), Failure::Unavailable { message });
    }
}
