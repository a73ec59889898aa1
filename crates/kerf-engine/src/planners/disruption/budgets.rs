//! How many nodes of each pool may be taken away now.

use std::collections::BTreeMap;

use kerf_model::budget::{Allowed, DisruptionReason};

use crate::condition::claim::{INITIALIZED, INSTANCE_TERMINATING, REBOOTING};
use crate::observed::{Claim, Name};
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
        Self::counting(world, now, |claim| world.is_leaving(claim))
    }

    /// Counts the nodes there are, as if nothing had been decided on that is not stored.
    pub(super) fn stored(world: &'a World, now: Time) -> Self {
        Self::counting(world, now, |claim| {
            claim.meta.is_deleting() || claim.status.conditions.is_true(INSTANCE_TERMINATING)
        })
    }

    /// What each pool may lose, for each reason, and what it lacks already.
    pub(super) fn allowances(&self) -> Vec<Allowance> {
        let of_pool = |pool: &Name| {
            let counted = self.pools.get(&**pool).copied().unwrap_or_default();
            DisruptionReason::ALL.map(|reason| Allowance {
                pool: pool.clone(),
                reason,
                allowed: self.allowed(pool, reason, counted),
                disrupted: counted.disrupted_for(reason),
            })
        };
        self.world.pools.keys().flat_map(of_pool).collect()
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

    fn allowed(&self, pool: &str, reason: DisruptionReason, counted: PoolNodes) -> Allowed {
        match self.world.pools.get(pool) {
            Some(pool) => {
                pool.spec.disruption.budgets.allowed(counted.nodes, reason, self.now.seconds())
            }
            None => Allowed::AtMost(0),
        }
    }

    fn counting(world: &'a World, now: Time, is_away: impl Fn(&Claim) -> bool) -> Self {
        let mut pools: BTreeMap<&str, PoolNodes> = BTreeMap::new();
        for claim in world.claims.values() {
            let conditions = &claim.status.conditions;
            let (Some(pool), Some(node)) = (claim.pool(), world.node_of(claim)) else { continue };
            let is_rebooting = conditions.is_true(REBOOTING);
            let is_up = conditions.is_true(INITIALIZED) || is_rebooting;
            if !is_up || conditions.is_true(INSTANCE_TERMINATING) {
                continue;
            }
            let counted = pools.entry(pool).or_default();
            counted.nodes += 1;
            if node.meta.is_deleting() || is_rebooting || is_away(claim) {
                counted.disrupted += 1;
            } else if !node.is_ready {
                counted.disrupted += 1;
                counted.unready += 1;
            }
        }
        Self { world, now, pools }
    }
}
