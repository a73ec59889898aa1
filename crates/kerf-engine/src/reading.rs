//! What the world shows beside its objects, for those who watch Kerf; nothing is decided by it.

use kerf_model::budget::{Allowed, DisruptionReason};

use crate::observed::Name;
use crate::planners::{self, disruption};
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
    /// When its budgets say something else, because a window opens or closes.
    pub changes_at: Option<Time>,
}

/// What every pool may lose, for every reason.
#[must_use]
pub fn allowances(world: &World, now: Time) -> Vec<Allowance> {
    disruption::allowances(world, now)
}

/// How many nodes could go for each reason, were there no budgets.
#[must_use]
pub fn eligible_nodes(world: &World, now: Time) -> Vec<(DisruptionReason, usize)> {
    disruption::eligible(world, now)
}

/// A zonal shift that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveShift {
    /// The account's name of the zone; empty where it is not known.
    pub zone: String,
    /// Its id.
    pub zone_id: String,
    /// Who wants it avoided.
    pub origin: String,
}

/// The zonal shifts that NodePools are kept out of zones for.
#[must_use]
pub fn active_shifts(world: &World) -> Vec<ActiveShift> {
    planners::active_shifts(world)
}
