//! Who is on the way out, so that nobody counts on it.

use super::World;
use crate::condition::claim::INSTANCE_TERMINATING;
use crate::observed::{Claim, Name, Node};

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
