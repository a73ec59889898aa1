//! What the disruption budgets of pools let go at the same time, counted as the engine counts.

use std::collections::BTreeMap;

use kerf_consolidation::Snapshot;
use kerf_engine::World;
use kerf_engine::reading::allowances;
use kerf_engine::time::Time;
use kerf_model::budget::DisruptionReason;

/// The budgets of all pools, now.
pub(super) struct Budgets<'a> {
    world: &'a World,
    snapshot: &'a Snapshot,
    now: Time,
    /// How many nodes of each pool are up, and how many of them are away already.
    pools: BTreeMap<String, (u32, u32)>,
}

impl<'a> Budgets<'a> {
    pub(super) fn of(world: &'a World, snapshot: &'a Snapshot, now: Time) -> Self {
        let mut pools: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        for node in snapshot.problem.nodes.iter().filter(|node| node.initialized) {
            if let Some(pool) = &node.pool {
                pools.entry(pool.clone()).or_default().0 += 1;
            }
        }
        for allowance in allowances(world, now) {
            let pool = pools.entry(allowance.pool.to_string()).or_default();
            pool.1 = pool.1.max(allowance.disrupted);
        }
        Self { world, snapshot, now, pools }
    }

    /// Whether nodes may go at the same time once others are gone.
    pub(super) fn allow(&self, gone: &[usize], going: &[usize]) -> bool {
        let nodes = &self.snapshot.problem.nodes;
        let mut lost: BTreeMap<&str, u32> = BTreeMap::new();
        for pool in gone.iter().filter_map(|node| nodes[*node].pool.as_deref()) {
            *lost.entry(pool).or_default() += 1;
        }
        let mut taken: BTreeMap<&str, u32> = BTreeMap::new();
        going.iter().all(|node| {
            let Some(name) = nodes[*node].pool.as_deref() else { return false };
            let Some(pool) = self.world.pools.get(name) else { return false };
            let (up, away) = self.pools.get(name).copied().unwrap_or_default();
            let up = up.saturating_sub(lost.get(name).copied().unwrap_or(0));
            let taken = taken.entry(name).or_default();
            let budgets = &pool.spec.disruption.budgets;
            let allowed = budgets.allowed(up, self.reason(*node), self.now.seconds());
            let left = allowed.less(away + *taken);
            *taken += 1;
            left.admits(1)
        })
    }

    fn reason(&self, node: usize) -> DisruptionReason {
        let mut pods = self.snapshot.problem.nodes[node].pods.iter();
        match pods.all(|bound| bound.is_daemon || bound.is_leaving) {
            true => DisruptionReason::Empty,
            false => DisruptionReason::Underutilized,
        }
    }
}
