//! What can be wrong with user data.

use thiserror::Error;

use super::BYTES_MAX;

/// Why user data cannot be written. The node class must change, or more must become known of the
/// cluster; trying again alone does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UserDataError {
    /// It starts as a MIME document and is none.
    #[error("spec.userData starts as a MIME document, but {why}")]
    Mime {
        /// What is wrong with it.
        why: String,
    },
    /// It contains the line that separates the parts of the merged document.
    #[error(
        "spec.userData has the line \"--//\", which separates the parts of the merged document; \
         change the line"
    )]
    Separator,
    /// It is no TOML.
    #[error("spec.userData must be TOML for Bottlerocket: {why}")]
    Toml {
        /// What the parser said, with the line.
        why: String,
    },
    /// A setting has a value of another kind than the one it takes.
    #[error("{field} in spec.userData must be {expected}, but is {found}")]
    Setting {
        /// The path of the setting.
        field: String,
        /// What it takes.
        expected: &'static str,
        /// What it has.
        found: &'static str,
    },
    /// Nodes of AL2023 must be told the addresses of Services, and nobody knows them.
    #[error(
        "the service CIDR of the cluster is not known, and nodes of AL2023 cannot join without; \
         allow eks:DescribeCluster, or use another amiFamily"
    )]
    NoServiceCidr,
    /// It is more than EC2 takes.
    #[error(
        "user data has {bytes} bytes with what nodes need to join, and EC2 takes {BYTES_MAX}; \
         shorten spec.userData"
    )]
    TooLarge {
        /// How many there are.
        bytes: usize,
    },
}

impl UserDataError {
    /// The condition's reason, where it has one of its own.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }
}

/// What the owner of a node class should know about user data that is used all the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UserDataWarning {
    /// A setting that Bottlerocket does not have, or not here, was left out.
    #[error("{field} in spec.userData is not a known setting and is left out")]
    UnknownSetting {
        /// The path of the setting.
        field: String,
    },
    /// There is not much room left.
    #[error("user data has {bytes} of the {BYTES_MAX} bytes that EC2 takes")]
    NearlyTooLarge {
        /// How many there are.
        bytes: usize,
    },
}
