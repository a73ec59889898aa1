//! Why a node is voluntarily disturbed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a node is voluntarily disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DisruptionReason {
    /// Its pods fit elsewhere, or on something cheaper.
    Underutilized,
    /// It holds no pods that would have to move.
    Empty,
    /// It is no longer what its pool or node class asks for.
    Drifted,
    /// A condition of it says that it does not work.
    Unhealthy,
}

impl DisruptionReason {
    /// Every reason, in order.
    pub const ALL: [DisruptionReason; 4] = [
        DisruptionReason::Underutilized,
        DisruptionReason::Empty,
        DisruptionReason::Drifted,
        DisruptionReason::Unhealthy,
    ];

    /// Reads a reason by its exact name.
    pub fn parse(name: &str) -> Option<DisruptionReason> {
        DisruptionReason::ALL.into_iter().find(|reason| reason.as_str() == name)
    }

    /// The name used in manifests, events and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            DisruptionReason::Underutilized => "Underutilized",
            DisruptionReason::Empty => "Empty",
            DisruptionReason::Drifted => "Drifted",
            DisruptionReason::Unhealthy => "Unhealthy",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for DisruptionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A set of reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReasonSet(u8);

impl ReasonSet {
    /// No reason at all.
    pub const EMPTY: ReasonSet = ReasonSet(0);

    /// Whether the reason is among these.
    pub const fn contains(self, reason: DisruptionReason) -> bool {
        self.0 & reason.bit() != 0
    }

    /// The reasons, in order.
    pub fn iter(self) -> impl Iterator<Item = DisruptionReason> {
        DisruptionReason::ALL.into_iter().filter(move |reason| self.contains(*reason))
    }
}

impl FromIterator<DisruptionReason> for ReasonSet {
    fn from_iter<I: IntoIterator<Item = DisruptionReason>>(reasons: I) -> ReasonSet {
        ReasonSet(reasons.into_iter().fold(0, |bits, reason| bits | reason.bit()))
    }
}
