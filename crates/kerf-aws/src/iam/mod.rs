//! What the controller's role must be allowed: one list, from which every policy is made.
//!
//! [`STATEMENTS`] says which calls are made on what and under which conditions; [`document`] writes
//! the part of it that is one managed policy, for names that are known or for those of a template
//! language. [`files`] are those that people install it with, and the table of the documentation.

mod document;
mod files;
mod permission_table;
mod statements;
#[cfg(test)]
mod tests;

use crate::AwsAction;
pub use document::{Names, document};
pub use files::{PolicyFile, classic_stack, files};
pub use statements::STATEMENTS;

/// A managed policy. The list is cut into several because each may have 6,144 characters only, and
/// because some are not needed everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// Instances, fleets and launch templates.
    NodeLifecycle,
    /// Instance profiles, for classes with a role.
    IamIntegration,
    /// The cluster's endpoint.
    EksIntegration,
    /// The interruption queue.
    Interruption,
    /// Zonal shifts.
    ZonalShift,
    /// Everything that is only read.
    ResourceDiscovery,
}

/// One statement of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The policy it belongs to.
    pub policy: Policy,
    /// Its id, unique in all policies.
    pub sid: &'static str,
    /// What it allows.
    pub permissions: &'static [Permission],
    /// On what, with placeholders such as `{region}`.
    pub resources: &'static [&'static str],
    /// When, with the same placeholders; all must hold.
    pub conditions: &'static [Condition],
    /// What Kerf does with it, for people who grant it.
    pub purpose: &'static str,
}

/// Something that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// A call that is made.
    Call(AwsAction),
    /// What a call needs beside its own permission.
    Implied(&'static str),
}

/// A condition of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How values are compared, such as `StringEquals`.
    pub operator: &'static str,
    /// What is compared.
    pub key: &'static str,
    /// With one of these.
    pub values: &'static [&'static str],
}

impl Policy {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 6] = [
        Self::NodeLifecycle,
        Self::IamIntegration,
        Self::EksIntegration,
        Self::Interruption,
        Self::ZonalShift,
        Self::ResourceDiscovery,
    ];

    /// Its name in an account with that cluster.
    #[must_use]
    pub fn name(self, cluster: &str) -> String {
        format!("KarpenterController{}Policy-{cluster}", self.words().concat())
    }

    /// What tells it from the others, for names with that between words. Without anything between,
    /// words keep their capitals.
    pub(crate) fn part(self, between: &str) -> String {
        match between {
            "" => self.words().concat(),
            _ => self.words().join(between).to_lowercase(),
        }
    }

    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::NodeLifecycle => &["Node", "Lifecycle"],
            Self::IamIntegration => &["IAM", "Integration"],
            Self::EksIntegration => &["EKS", "Integration"],
            Self::Interruption => &["Interruption"],
            Self::ZonalShift => &["Zonal", "Shift"],
            Self::ResourceDiscovery => &["Resource", "Discovery"],
        }
    }
}

impl Permission {
    /// As policies name it, such as `ec2:CreateFleet`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call(action) => action.permission(),
            Self::Implied(name) => name,
        }
    }
}
