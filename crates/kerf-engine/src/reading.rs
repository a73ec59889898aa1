//! What the world shows beside its objects, for those who watch Kerf; nothing is decided by it.

use kerf_model::budget::{Allowed, DisruptionReason};

use crate::observed::Name;
use crate::planners::disruption;
use crate::time::Time;
use crate::world::World;

/// How many nodes a pool may lose at once for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The pool.
    pub pool: Name,
    /// Why nodes would go.
    pub reason: DisruptionReason,
    /// What its budgets say.
    pub allowed: Allowed,
    /// How many of its nodes are away already: not ready, or on their way out.
    pub disrupted: u32,
}

/// What every pool may lose, for every reason.
#[must_use]
pub fn allowances(world: &World, now: Time) -> Vec<Allowance> {
    disruption::allowances(world, now)
}

/// How many nodes could go because they are empty, were there no budgets.
#[must_use]
pub fn empty_node_count(world: &World) -> usize {
    disruption::empty_count(world)
}
