//! Who is on the way out, so that nobody counts on it.

use super::World;
use crate::condition::claim::INSTANCE_TERMINATING;
use crate::memory::{Deletion, DeletionState};
use crate::observed::{Claim, Kind, Name, Node};

impl World {
    /// Whether a claim is on its way out: disrupted by a command, deleted, or its instance ending or
    /// announced to.
    #[must_use]
    pub fn is_leaving(&self, claim: &Claim) -> bool {
        is_leaving_as_stored(claim) || self.is_chosen_to_leave(&claim.meta.name)
    }

    /// Whether Kerf has decided that a claim goes, stored or not.
    pub(super) fn is_chosen_to_leave(&self, claim: &Name) -> bool {
        self.memory.commands.is_disrupting(claim)
            || self.memory.interrupted.contains_key(claim)
            || self.memory.surplus.contains(claim)
            || self.memory.deletions.get(claim).is_some_and(Deletion::is_taken)
    }

    /// Whether a claim goes for good although no watch has told: the API server took its deletion.
    #[must_use]
    pub fn is_deletion_taken(&self, claim: &Claim) -> bool {
        self.deletion_of(claim).is_some_and(Deletion::is_taken)
    }

    /// The same, or whether that is not known: its deletion was ordered, and an answer or a watch
    /// has yet to tell.
    #[must_use]
    pub fn may_be_going(&self, claim: &Claim) -> bool {
        self.deletion_of(claim).is_some_and(|deletion| match deletion.state {
            DeletionState::Taken => true,
            DeletionState::Unknown { until } => {
                self.heard_at(Kind::Claim).is_none_or(|heard_at| heard_at <= until)
            }
        })
    }

    fn deletion_of(&self, claim: &Claim) -> Option<&Deletion> {
        self.memory.deletions.get(&claim.meta.name).filter(|it| it.uid == claim.meta.uid)
    }

    /// Whether a node is on its way out, by itself or with its claim, or is drained.
    #[must_use]
    pub fn is_node_leaving(&self, node: &Node) -> bool {
        node.meta.is_deleting()
            || self.memory.drains.contains_key(&node.meta.name)
            || self.claim_of(node).is_some_and(|claim| self.is_leaving(claim))
    }
}

/// Whether a claim's stored state says that it goes.
pub(crate) fn is_leaving_as_stored(claim: &Claim) -> bool {
    claim.meta.is_deleting() || claim.status.conditions.is_true(INSTANCE_TERMINATING)
}
