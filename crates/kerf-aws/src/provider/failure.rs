//! What a call that gave no answer means to the engine.

use kerf_engine::event::Failure;
use kerf_engine::time::Span;

use crate::CallError;

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let message = error.to_string();
        match error {
            CallError::Throttled { retry_after: Some(wait), .. } => Self::Throttled {
                message,
                retry_after: Span::from_millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            },
            CallError::Denied { .. } => Self::Denied { message },
            CallError::Refused { .. } | CallError::NoSuchQueue { .. } => Self::Invalid { message },
            CallError::Throttled { .. }
            | CallError::Credentials { .. }
            | CallError::Unavailable { .. } => Self::Unavailable { message },
        }
    }
}
