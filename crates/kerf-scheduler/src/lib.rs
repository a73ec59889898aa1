//! The placement problem and its solver.

mod answer;
mod assign;
mod base;
mod bin;
mod candidates;
mod class;
mod cluster;
mod covering;
mod daemon;
mod demand;
mod domains;
mod fleets;
mod forced;
mod group;
mod improve;
mod item;
mod known_entries;
mod machine;
mod merge;
mod near;
mod node;
mod nodes;
mod occupancy;
mod pack;
mod pack_state;
mod placement;
mod problem;
mod rehearsal;
mod rounds;
mod shapes;
mod solution;
mod solver;
mod tenants;
mod units;
mod universe;
mod why_not;
mod worth;

pub use cluster::Cluster;
pub use problem::{
    Filling, IMPROVEMENT_EFFORT_DEFAULT, INSTANCE_TYPE_OPTIONS_MAX, MinValuesPolicy,
    NODE_OVERHEAD_DEFAULT, Pool, PreferencePolicy, Problem, Settings,
};
pub use solution::{
    Displaced, ExistingPlacement, NewNode, Solution, TypeOption, Unplaced, Without,
};

use base::{Base, Standing};

/// Decides where pods go and which nodes to add. The same problem always gives the same answer.
#[must_use]
pub fn solve(problem: &Problem) -> Solution {
    Base::read(problem, Standing::Stays).without(&[]).solution
}
