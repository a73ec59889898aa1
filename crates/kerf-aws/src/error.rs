//! Why a call gave no answer.

use std::time::Duration;

use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};

/// The result of a call.
pub type Result<T> = std::result::Result<T, CallError>;

/// Why a call gave no answer, by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Too many calls. The same call works later.
    #[error("{action} on {resource}: throttled")]
    Throttled {
        /// Such as `sqs:SendMessage`.
        action: &'static str,
        /// What it was about.
        resource: String,
        /// How long not to call again, where the service says so.
        retry_after: Option<Duration>,
    },
    /// The service does not believe who calls: credentials have expired, are not known (yet), or
    /// the clock of this host is wrong. The same call works with new credentials or a right clock.
    #[error(
        "{action} on {resource}: the credentials are not accepted: {why}; check that they are \
         renewed and that the clock is right"
    )]
    Credentials {
        /// The call.
        action: &'static str,
        /// What it was about.
        resource: String,
        /// What the service said.
        why: String,
    },
    /// A permission is missing. It helps to grant the action on the resource.
    #[error("not allowed to call {action} on {resource}: grant it to the role in use")]
    Denied {
        /// The action to grant.
        action: &'static str,
        /// On what.
        resource: String,
    },
    /// The queue is not there.
    #[error("{action}: there is no queue {resource}")]
    NoSuchQueue {
        /// The call.
        action: &'static str,
        /// Its name or URL.
        resource: String,
    },
    /// A time-out, a lost connection, missing credentials or an error of the service. Trying again
    /// may help.
    #[error("{action} on {resource}: {why}")]
    Unavailable {
        /// The call.
        action: &'static str,
        /// What it was about.
        resource: String,
        /// What happened.
        why: String,
    },
    /// The call is wrong and would be refused again.
    #[error("{action} on {resource} was refused: {why}")]
    Refused {
        /// The call.
        action: &'static str,
        /// What it was about.
        resource: String,
        /// The service's word for it, such as `InvalidInstanceID.NotFound`; empty where the call
        /// could not be put together.
        code: String,
        /// What the service said.
        why: String,
    },
}

/// How the services say that there were too many calls.
const THROTTLED: [&str; 8] = [
    "Throttling",
    "ThrottlingException",
    "RequestThrottled",
    "RequestThrottledException",
    "RequestLimitExceeded",
    "TooManyRequestsException",
    "ProvisionedThroughputExceededException",
    "SlowDown",
];

/// How they say that a permission is missing.
const DENIED: [&str; 4] =
    ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AccessDeniedFault"];

/// How they say that the caller is not who it says, or calls at another time than it says.
const CREDENTIALS: [&str; 14] = [
    // EC2's word for keys that it cannot validate.
    "AuthFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSecurity",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "RequestExpired",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
    "UnrecognizedClientException",
];

/// Where an answer says how long not to call again, in seconds.
const RETRY_AFTER: &str = "retry-after";

/// How EKS and ARC say that there is no such thing.
const NOT_FOUND: &str = "ResourceNotFoundException";

impl CallError {
    /// Whether the same call may work a little later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Throttled { .. } | Self::Credentials { .. } | Self::Unavailable { .. })
    }

    /// The service's word for why it refused the call, if it did.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// Sorts an error of the client library.
    pub(crate) fn new<E>(
        action: &'static str,
        resource: &str,
        error: SdkError<E, HttpResponse>,
    ) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        let resource = resource.to_owned();
        let code = error.code().unwrap_or_default();
        let status = error.raw_response().map_or(0, |response| response.status().as_u16());
        if THROTTLED.contains(&code) || status == 429 {
            let headers = error.raw_response().map(HttpResponse::headers);
            let seconds = headers.and_then(|headers| headers.get(RETRY_AFTER)?.parse().ok());
            let retry_after = seconds.map(Duration::from_secs);
            return Self::Throttled { action, resource, retry_after };
        }
        // SQS writes some codes with the name of their namespace before them.
        if CREDENTIALS.iter().any(|known| code == *known || code.ends_with(&format!(".{known}"))) {
            let said = error.message().unwrap_or_default();
            return Self::Credentials { action, resource, why: format!("{code} {said}") };
        }
        if DENIED.contains(&code) {
            return Self::Denied { action, resource };
        }
        if code.ends_with("NonExistentQueue") || code.ends_with("QueueDoesNotExist") {
            return Self::NoSuchQueue { action, resource };
        }
        match &error {
            SdkError::ServiceError(_) if (400..500).contains(&status) => {
                let said = error.message().unwrap_or("no further word");
                let (code, why) = (code.to_owned(), format!("{code}: {said}"));
                Self::Refused { action, resource, code, why }
            }
            _ => {
                let why = DisplayErrorContext(&error).to_string();
                Self::Unavailable { action, resource, why }
            }
        }
    }

    /// The answer, or none where the service says that there is no such thing.
    pub(crate) fn or_none<T, E>(
        action: &'static str,
        resource: &str,
        answer: std::result::Result<T, SdkError<E, HttpResponse>>,
    ) -> Result<Option<T>>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.code() == Some(NOT_FOUND) => Ok(None),
            Err(error) => Err(Self::new(action, resource, error)),
        }
    }

    /// A call that could not even be put together.
    pub(crate) fn refused(
        action: &'static str,
        resource: &str,
        why: impl std::fmt::Display,
    ) -> Self {
        let (resource, code) = (resource.to_owned(), String::new());
        Self::Refused { action, resource, code, why: why.to_string() }
    }
}
