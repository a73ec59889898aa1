//! How many nodes of each pool may be taken away now.

use std::collections::BTreeMap;

use kerf_model::budget::{Allowed, DisruptionReason};

use super::budget_windows::next_change;
use super::candidates::Candidate;
use crate::observed::{Name, PoolTally};
use crate::reading::Allowance;
use crate::time::Time;
use crate::world::World;

/// The pools' nodes, counted for their budgets.
pub(super) struct Budgets<'a> {
    world: &'a World,
    now: Time,
    pools: BTreeMap<&'a str, PoolNodes>,
}

/// The nodes of one pool.
#[derive(Clone, Copy, Debug, Default)]
struct PoolNodes {
    /// Those that count: up or rebooting, and their instance not ending.
    nodes: u32,
    /// Those of them that are away already: not ready, rebooting, or on their way out.
    disrupted: u32,
    /// Those of them that are only not ready, which is what repair is for.
    unready: u32,
}

impl PoolNodes {
    fn of(tally: &PoolTally) -> Self {
        let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            nodes: count(tally.nodes),
            disrupted: count(tally.away),
            unready: count(tally.unready),
        }
    }

    fn disrupted_for(self, reason: DisruptionReason) -> u32 {
        match reason {
            DisruptionReason::Unhealthy => self.disrupted - self.unready,
            _ => self.disrupted,
        }
    }
}

impl<'a> Budgets<'a> {
    /// Counts the nodes there are. Removals that have only been decided on count as away.
    pub(super) fn of(world: &'a World, now: Time) -> Self {
        let tally = |(pool, _): (&'a Name, _)| (&**pool, PoolNodes::of(&world.pool_tally(pool)));
        Self { world, now, pools: world.stored_tallies().map(tally).collect() }
    }

    /// Counts the nodes there are, as if nothing had been decided on that is not stored. Deletions
    /// that the API server took are, though no watch may have told of them.
    pub(super) fn stored(world: &'a World, now: Time) -> Self {
        let tally = |(pool, _): (&'a Name, _)| (&**pool, PoolNodes::of(&world.stored_tally(pool)));
        Self { world, now, pools: world.stored_tallies().map(tally).collect() }
    }

    /// What each pool may lose, for each reason, and what it lacks already.
    pub(super) fn allowances(&self) -> Vec<Allowance> {
        self.world.pools.keys().flat_map(|pool| self.allowances_of(pool)).collect()
    }

    /// The same for one pool.
    pub(super) fn allowances_of(&self, pool: &Name) -> [Allowance; DisruptionReason::ALL.len()] {
        let counted = self.pools.get(&**pool).copied().unwrap_or_default();
        let budgets = self.world.pools.get(pool).map(|pool| &pool.spec.disruption.budgets);
        let changes_at = |reason| {
            let at = next_change(budgets?, counted.nodes, reason, self.now.seconds())?;
            Some(Time::from_seconds(at))
        };
        DisruptionReason::ALL.map(|reason| Allowance {
            pool: pool.clone(),
            reason,
            allowed: self.allowed(pool, reason, counted),
            disrupted: counted.disrupted_for(reason),
            changes_at: changes_at(reason),
        })
    }

    /// How many more nodes of a pool may go now for a reason.
    pub(super) fn left(&self, pool: &str, reason: DisruptionReason) -> Allowed {
        let counted = self.pools.get(pool).copied().unwrap_or_default();
        self.allowed(pool, reason, counted).less(counted.disrupted_for(reason))
    }

    /// Whether a pool has nodes at all while nothing may be taken from it.
    pub(super) fn is_closed(&self, pool: &str, reason: DisruptionReason) -> bool {
        let counted = self.pools.get(pool).copied().unwrap_or_default();
        counted.nodes > 0 && self.allowed(pool, reason, counted).is_none()
    }

    /// Takes one node out of what is left for a pool and a reason, if there is one left.
    pub(super) fn take(&mut self, pool: &'a str, reason: DisruptionReason) -> bool {
        let counted = self.pools.get(pool).copied().unwrap_or_default();
        let left = self.allowed(pool, reason, counted).less(counted.disrupted_for(reason));
        let takes = left.admits(1);
        if takes {
            self.pools.entry(pool).or_default().disrupted += 1;
        }
        takes
    }

    /// The same for the node of a candidate. One that never came up was never counted.
    pub(super) fn admit(&mut self, candidate: &Candidate<'a>, reason: DisruptionReason) -> bool {
        !candidate.is_up() || self.take(&candidate.pool.spec.name, reason)
    }

    fn allowed(&self, pool: &str, reason: DisruptionReason, counted: PoolNodes) -> Allowed {
        match self.world.pools.get(pool) {
            Some(pool) => {
                pool.spec.disruption.budgets.allowed(counted.nodes, reason, self.now.seconds())
            }
            None => Allowed::AtMost(0),
        }
    }
}
