//! The placement problem and its solver.
//!
//! **Knows**: pods, pools, machines and nodes in the model's words, and every rule a placement must
//! keep; where pods go, which nodes to add at the least price, and why a pod found no place.
//!
//! **Must never know**: a cluster's objects, a clock, chance. The same problem has the same answer.
//!
//! ```text
//!  Problem ──► reading ──► solving ──────────────► Solution
//!             (numbers)    wish by wish   │  ▲
//!                                         ▼  │
//!                                       packing
//!                                (pods onto new nodes)
//! ```
//!
//! A [`Cluster`] is read once and asked many questions: what if these nodes were gone?

mod cluster;
mod packing;
mod problem;
mod reading;
mod solution;
mod solving;
mod units;

pub use cluster::Cluster;
pub use problem::{
    Filling, IMPROVEMENT_EFFORT_DEFAULT, INSTANCE_TYPE_OPTIONS_MAX, MinValuesPolicy,
    NODE_OVERHEAD_DEFAULT, Pool, PreferencePolicy, Problem, Settings,
};
pub use solution::{
    Displaced, ExistingPlacement, NewNode, Solution, TypeOption, Unplaced, Without,
};

use reading::base::{Base, Standing};

/// Decides where pods go and which nodes to add. The same problem always gives the same answer.
#[must_use]
pub fn solve(problem: &Problem) -> Solution {
    Base::read(problem, Standing::Stays).without(&[]).solution
}
