//! The placement problem and its solver.

mod problem;
mod solution;

pub use problem::{
    IMPROVEMENT_EFFORT_DEFAULT, INSTANCE_TYPE_OPTIONS_MAX, MinValuesPolicy, NODE_OVERHEAD_DEFAULT,
    Pool, PreferencePolicy, Problem, Settings,
};
pub use solution::{ExistingPlacement, NewNode, Solution, TypeOption, Unplaced};
