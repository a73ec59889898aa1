//! The placement problem and its solver.

#[cfg_attr(not(test), expect(dead_code, reason = "the solver is not there yet to ask for it"))]
mod covering;
mod problem;
mod solution;

pub use problem::{
    IMPROVEMENT_EFFORT_DEFAULT, INSTANCE_TYPE_OPTIONS_MAX, MinValuesPolicy, NODE_OVERHEAD_DEFAULT,
    Pool, PreferencePolicy, Problem, Settings,
};
pub use solution::{ExistingPlacement, NewNode, Solution, TypeOption, Unplaced};
