//! Why a reboot failed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a reboot failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RebootFault {
    /// The provider cannot, or did not in time.
    ProviderError,
    /// The node did not come back in time.
    RecoveryTimeout,
    /// What the claim asks for makes no sense.
    InvalidRequest,
}

impl RebootFault {
    /// As metrics carry it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::ProviderError => "provider_error",
            Self::RecoveryTimeout => "recovery_timeout",
            Self::InvalidRequest => "invalid_request",
        }
    }

    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::ProviderError => "the provider did not reboot the instance",
            Self::RecoveryTimeout => "the rebooted node did not come back in time",
            Self::InvalidRequest => "what is asked for makes no sense",
        }
    }
}

impl fmt::Display for RebootFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}
