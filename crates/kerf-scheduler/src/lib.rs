//! The placement problem and its solver.

mod answer;
mod assign;
mod bin;
mod class;
mod covering;
mod demand;
mod domains;
mod group;
mod improve;
mod item;
mod machine;
mod near;
mod node;
mod occupancy;
mod pack;
mod problem;
mod rounds;
mod solution;
mod solver;
mod units;
mod why_not;
mod worth;

pub use problem::{
    IMPROVEMENT_EFFORT_DEFAULT, INSTANCE_TYPE_OPTIONS_MAX, MinValuesPolicy, NODE_OVERHEAD_DEFAULT,
    Pool, PreferencePolicy, Problem, Settings,
};
pub use solution::{ExistingPlacement, NewNode, Solution, TypeOption, Unplaced};

/// Decides where pods go and which nodes to add. The same problem always gives the same answer.
#[must_use]
pub fn solve(problem: &Problem) -> Solution {
    let mut solver = solver::Solver::read(problem);
    let placed = solver.place_all();
    solver.answer(&placed)
}
