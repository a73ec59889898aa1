//! Finding places for pods.
//!
//! ```text
//!  pod waits ─ call ─► window ─ closes ─► pass ─ Solve ─► verdict ─► claims, nominations
//!  (notice)           (batch)            (problem)        (checked against the world of then)
//! ```
//!
//! Until the window closes nothing is walked over, so a pod that comes costs the same however many
//! wait already.

mod batch;
mod claim_draft;
mod claim_name;
mod nomination;
mod pass;
mod pool_choice;
mod problem;
mod reservation;
mod usage;
mod verdict;
mod waiting;

pub(super) use batch::{notice, notice_gone, notice_offered};
pub(super) use nomination::targets_in_use;

use crate::action::{Action, Deed};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::Memo;
use crate::time::Time;
use crate::world::World;
use batch::Due;

/// What waiting pods need now.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    match batch::due(world, now) {
        Due::Now => pass::begin(world, now),
        Due::At(time) => Decision { wake_at: Some(time), ..Decision::default() },
        Due::Unasked => Decision::default(),
    }
}

/// What to make of the answer to a placement problem.
pub(super) fn conclude(world: &World, action: &Action, outcome: &Outcome, now: Time) -> Decision {
    match (&action.deed, outcome) {
        (Deed::Solve(problem), Outcome::Solved(solution)) => {
            verdict::carry_out(world, problem, solution, now)
        }
        _ => Decision { memos: vec![Memo::PassEnded], ..Decision::default() },
    }
}
