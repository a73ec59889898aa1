//! Status conditions: how far an object has come, with the mechanics all kinds share.
//!
//! Stored conditions are plain [`Conditions`]; whoever wants to change them makes a [`Draft`].

mod draft;

pub use draft::{Dependent, Draft};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// The conditions of one object, in the order they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions(pub Vec<Condition>);

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// What it is about.
    pub kind: String,
    /// Whether it holds.
    pub status: Status,
    /// Why, in one word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
    /// When the status last changed; whole seconds.
    pub changed_at: Time,
    /// The generation of the object it speaks of.
    pub observed_generation: i64,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Status {
    /// It does.
    True,
    /// It does not.
    False,
    /// Nobody knows yet.
    Unknown,
}

/// The root condition of every kind.
pub const READY: &str = "Ready";

/// Conditions of claims.
pub mod claim {
    /// The instance was launched.
    pub const LAUNCHED: &str = "Launched";
    /// Its node joined and carries what the claim asks for.
    pub const REGISTERED: &str = "Registered";
    /// Its node is ready for pods.
    pub const INITIALIZED: &str = "Initialized";
    /// Its node has been quiet long enough.
    pub const CONSOLIDATABLE: &str = "Consolidatable";
    /// It no longer is what its pool asks for.
    pub const DRIFTED: &str = "Drifted";
    /// Its pods are gone.
    pub const DRAINED: &str = "Drained";
    /// Its volumes are detached.
    pub const VOLUMES_DETACHED: &str = "VolumesDetached";
    /// The cloud accepted the end of the instance.
    pub const INSTANCE_TERMINATING: &str = "InstanceTerminating";
    /// The node offers what was paid for.
    pub const CONSISTENT_STATE_FOUND: &str = "ConsistentStateFound";
    /// Why it is about to be disrupted.
    pub const DISRUPTION_REASON: &str = "DisruptionReason";
    /// Its node is being rebooted in place.
    pub const REBOOTING: &str = "Rebooting";
    /// Those that make a claim ready together.
    pub const DEPENDENTS: [&str; 3] = [LAUNCHED, REGISTERED, INITIALIZED];
}

/// Conditions of pools.
pub mod pool {
    /// The spec makes sense.
    pub const VALIDATION_SUCCEEDED: &str = "ValidationSucceeded";
    /// The node class is there and ready.
    pub const NODE_CLASS_READY: &str = "NodeClassReady";
    /// Instances launched lately became nodes.
    pub const NODE_REGISTRATION_HEALTHY: &str = "NodeRegistrationHealthy";
    /// Budgets let nodes go by choice; the message says how many. Kerf's own.
    pub const DISRUPTION_ALLOWED: &str = "DisruptionAllowed";
    /// Those that make a pool ready together.
    pub const DEPENDENTS: [&str; 2] = [VALIDATION_SUCCEEDED, NODE_CLASS_READY];
}

/// Conditions of NodeOverlays.
pub mod overlay {
    /// The spec makes sense, and no other overlay says otherwise.
    pub const VALIDATION_SUCCEEDED: &str = "ValidationSucceeded";
    /// Those that make an overlay ready together.
    pub const DEPENDENTS: [&str; 1] = [VALIDATION_SUCCEEDED];
}

impl Conditions {
    /// The condition of that kind.
    #[must_use]
    pub fn get(&self, kind: &str) -> Option<&Condition> {
        self.0.iter().find(|condition| condition.kind == kind)
    }

    /// Whether the condition of that kind is there and holds.
    #[must_use]
    pub fn is_true(&self, kind: &str) -> bool {
        self.get(kind).is_some_and(|condition| condition.status == Status::True)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
        })
    }
}
