//! What is wrong with a node that is repaired, for the log.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::condition::Status;
use crate::provider::RepairAction;
use crate::time::{Span, Time};
use crate::timestamp::rfc3339;

/// What is wrong with a node, and by which policy something is done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairCause {
    /// The condition of the node.
    pub condition: String,
    /// Its status.
    pub status: Status,
    /// Its reason.
    pub reason: String,
    /// The reasons the policy is for; none in the one for reasons that no other is for.
    pub pattern: String,
    /// What is done about it.
    pub action: RepairAction,
    /// Whether its policy would have it rebooted, and that was done too often.
    #[serde(default)]
    pub is_escalated: bool,
    /// From when on it was no longer tolerated.
    pub due_at: Time,
    /// How long pods have to leave, and the condition that says so.
    pub drain_within: Option<(Span, String)>,
}

impl fmt::Display for RepairCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.condition, self.status)?;
        if !self.reason.is_empty() {
            write!(f, " ({})", self.reason)?;
        }
        match self.pattern.as_str() {
            "" => f.write_str(", by the fallback policy")?,
            pattern => write!(f, ", by the policy for reasons {pattern:?}")?,
        }
        let escalated = if self.is_escalated { " (reboot-escalated)" } else { "" };
        write!(f, ": {:?}{escalated}, due since {}", self.action, rfc3339(self.due_at))?;
        if let Some((span, source)) = &self.drain_within {
            write!(f, ", pods have {}s because of {source}", span.seconds())?;
        }
        Ok(())
    }
}
