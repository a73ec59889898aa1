//! The placement problem and its solver.
//!
//! **Knows**: pods, pools, instance types and nodes in the model's words, and every rule a placement
//! must keep; where pods go, which nodes to add at the least price, and why a pod found no place.
//!
//! **Must never know**: a cluster's objects, a clock, chance. The same problem has the same answer.
//!
//! ```text
//!  PlacementProblem ──► reading ──► solving ──────────► Solution
//!                      (numbers)   (preferences are  │  ▲
//!                                   relaxed in turn) ▼  │
//!                                                  packing
//!                                           (pods onto new nodes)
//! ```
//!
//! A [`PreparedCluster`] is read once and asked many what-ifs: what if these nodes were gone?

mod limits;
mod packing;
mod prepared_cluster;
mod problem;
mod reading;
mod residual;
mod solution;
mod solver_cache;
mod solving;
mod units;

pub use limits::{CancelFlag, Effort};
pub use prepared_cluster::PreparedCluster;
pub use problem::{
    Binder, IMPROVEMENT_EFFORT_DEFAULT, INSTANCE_TYPE_OPTIONS_MAX, MinValuesPolicy,
    NODE_OVERHEAD_DEFAULT, PlacementProblem, PoolWithTypes, PreferencePolicy, SchedulerSettings,
};
pub use residual::{
    Coming, Covering, Destination, NotTaken, Onto, Question, Refusal, ResidualCluster,
};
pub use solution::{Displaced, ExistingPlacement, NewNode, Solution, TypeOption, Unplaced, WhatIf};
pub use solver_cache::SolverCache;

/// Decides where pods go and which nodes to add. The same problem always gives the same answer.
#[must_use]
pub fn solve(problem: &PlacementProblem) -> Solution {
    solve_within(problem, Effort::UNLIMITED, &CancelFlag::default())
        .expect("a solve that nobody can cancel ends")
}

/// As [`solve`], with a bound on the work: pods that are not looked at before it is spent are
/// [deferred](Solution::deferred). `None` if the solve was cancelled.
#[must_use]
pub fn solve_within(
    problem: &PlacementProblem,
    effort: Effort,
    cancel: &CancelFlag,
) -> Option<Solution> {
    SolverCache::default().solve_within(problem, effort, cancel)
}
