//! What solves the engines' problems. It keeps what it read for the next one, as a controller's does;
//! no answer depends on it.

use std::fmt;

use kerf_engine::event::Outcome;
use kerf_engine::solve::SolveRequest;
use kerf_scheduler::{CancelFlag, SolverCache};

#[derive(Default)]
pub(super) struct Solver(SolverCache);

impl Solver {
    pub(super) fn solve(&mut self, request: &SolveRequest) -> Outcome {
        request.solve_with(&mut self.0, &CancelFlag::default())
    }
}

impl Clone for Solver {
    /// A copy reads everything anew.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Solver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Solver")
    }
}
