//! The policy `Balanced`: a saving must be worth the disruption, measured by its pool.
//!
//! The score of a move in a pool is the part of the pool's price that it saves, divided by the part
//! of the pool's disruption that it takes. One half is enough. All of it is integer arithmetic:
//! fractions are compared by multiplying out.

use kerf_model::pool::ConsolidationPolicy;
use kerf_model::price::Price;
use serde::{Deserialize, Serialize};

use crate::snapshot::Snapshot;

/// A move is approved where its score is at least one over this.
const K: u128 = 2;
const MILLIS: u128 = 1000;

/// What a move is worth to a pool whose policy is Balanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// The pool, by its index in the problem.
    pub pool: usize,
    /// The part of its price that is saved, divided by the part of its disruption that it takes; in
    /// thousandths.
    pub millis: u64,
    /// The part of the pool's price that is saved, in thousandths.
    pub saved_permille: u64,
    /// The part of the pool's disruption that it takes, in thousandths.
    pub disrupted_permille: u64,
    /// Whether that is enough.
    pub is_enough: bool,
}

/// What the nodes of each pool cost and would take to disrupt, at the start of a search.
pub(crate) struct PoolTotals {
    pools: Vec<PoolTotal>,
    /// The pool of each node.
    of_nodes: Vec<Option<usize>>,
}

#[derive(Clone)]
struct PoolTotal {
    policy: ConsolidationPolicy,
    price_micros: u128,
    disruption_parts: u128,
}

impl PoolTotals {
    /// Adds up every pool.
    pub(crate) fn of(snapshot: &Snapshot, prices: &[Price]) -> Self {
        let problem = &snapshot.problem;
        let mut pools: Vec<PoolTotal> = problem
            .pools
            .iter()
            .map(|pool| PoolTotal {
                policy: pool.pool.disruption.policy,
                price_micros: 0,
                disruption_parts: 0,
            })
            .collect();
        let named = |name: &String| problem.pools.iter().position(|it| it.pool.name == *name);
        let of_nodes: Vec<Option<usize>> =
            problem.nodes.iter().map(|node| node.pool.as_ref().and_then(named)).collect();
        for (node, pool) in of_nodes.iter().enumerate() {
            if let Some(pool) = pool {
                pools[*pool].price_micros += u128::from(prices[node].micros_per_hour());
                let cost = snapshot.nodes[node].disruption_cost;
                pools[*pool].disruption_parts += u128::from(cost.parts());
            }
        }
        Self { pools, of_nodes }
    }

    /// The policy of a node's pool, if that is known.
    pub(crate) fn policy(&self, node: usize) -> Option<ConsolidationPolicy> {
        self.of_nodes[node].map(|pool| self.pools[pool].policy)
    }

    /// The pool of a node, if it is known.
    pub(crate) fn pool(&self, node: usize) -> Option<usize> {
        self.of_nodes[node]
    }

    /// The score of a move in each Balanced pool it takes nodes from. The saving is split over pools
    /// in proportion to what their nodes cost.
    pub(crate) fn scores(
        &self,
        removed: &[usize],
        saving: Price,
        snapshot: &Snapshot,
        prices: &[Price],
    ) -> Vec<Score> {
        let micros = |node: &usize| u128::from(prices[*node].micros_per_hour());
        let whole: u128 = removed.iter().map(micros).sum();
        let mut pools: Vec<usize> =
            removed.iter().filter_map(|node| self.of_nodes[*node]).collect();
        pools.sort_unstable();
        pools.dedup();
        pools.retain(|pool| self.pools[*pool].policy == ConsolidationPolicy::Balanced);
        let score = |pool: usize| {
            let total = &self.pools[pool];
            let of_pool = || removed.iter().filter(|node| self.of_nodes[**node] == Some(pool));
            let part: u128 = of_pool().map(micros).sum();
            let cost: u128 = of_pool()
                .map(|node| u128::from(snapshot.nodes[*node].reschedule_cost.parts()))
                .sum();
            // (saving · part / whole / price) / (cost / disruption), multiplied out.
            let gain = u128::from(saving.micros_per_hour())
                .saturating_mul(part)
                .saturating_mul(total.disruption_parts);
            let effort = total.price_micros.saturating_mul(cost).saturating_mul(whole);
            let millis = gain.saturating_mul(MILLIS).checked_div(effort).unwrap_or(0);
            let permille = |part: u128, whole: u128| {
                let millis = part.saturating_mul(MILLIS).checked_div(whole).unwrap_or(0);
                u64::try_from(millis).unwrap_or(u64::MAX)
            };
            let saved = u128::from(saving.micros_per_hour()).saturating_mul(part);
            Score {
                pool,
                millis: u64::try_from(millis).unwrap_or(u64::MAX),
                saved_permille: permille(saved, whole.saturating_mul(total.price_micros)),
                disrupted_permille: permille(cost, total.disruption_parts),
                is_enough: effort > 0 && gain > 0 && gain.saturating_mul(K) >= effort,
            }
        };
        pools.into_iter().map(score).collect()
    }
}
