//! The placement problem and its solver.

mod answer;
mod assign;
mod bin;
mod class;
mod covering;
mod daemon;
mod demand;
mod domains;
mod group;
mod improve;
mod item;
mod known_entries;
mod machine;
mod merge;
mod near;
mod node;
mod occupancy;
mod pack;
mod placement;
mod problem;
mod rounds;
mod solution;
mod solver;
mod units;
mod universe;
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
    let placed = solver.place_all(&[]);
    let left_out = solver.left_out_by_order(&placed);
    if left_out.is_empty() {
        return solver.answer(&placed);
    }
    // Pods that could stand somewhere found their place taken: with them first, more may fit.
    let mut again = solver::Solver::read(problem);
    let placed_again = again.place_all(&left_out);
    if placed_again.unplaced_count() < placed.unplaced_count() {
        again.answer(&placed_again)
    } else {
        solver.answer(&placed)
    }
}
