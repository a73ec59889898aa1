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
mod dry_run;
mod held;
mod nomination;
mod occupants;
mod pass;
mod pool_choice;
mod problem;
mod replacement;
mod reservation;
mod start;
mod usage;
mod verdict;
mod waiting;

pub use dry_run::{DryRun, dry_run};

pub(super) use batch::{on_change, on_delete, on_instance_types, on_lead};
pub(super) use claim_draft::from_template;
pub(super) use claim_name::free_name;
pub(super) use nomination::targets_in_use;
pub(super) use occupants::Occupants;
pub(super) use problem::build_without;
pub(super) use replacement::Replacements;
pub(super) use usage::Usage;
pub(super) use verdict::target;
pub(super) use waiting::asked as asked_pod;

use kerf_scheduler::PlacementProblem;

use crate::action::{Action, ActionKind};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::Update;
use crate::observed::Pod;
use crate::reason::NotPlaced;
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

/// The pods that wait for a place now.
pub(super) fn waiting_pods(world: &World, now: Time) -> Vec<&Pod> {
    waiting::all(world, now).pods
}

/// What to make of the answer to a placement problem.
pub(super) fn conclude(world: &World, action: &Action, outcome: &Outcome, now: Time) -> Decision {
    match (&action.kind, outcome) {
        // Its time was over before anything was found: as large as it is, it never ends.
        (ActionKind::Solve(request), Outcome::Solved(solution))
            if solution.deferred.len() == request.problem.pods.len() =>
        {
            failed(world, &request.problem, now)
        }
        (ActionKind::Solve(request), Outcome::Solved(solution)) => {
            verdict::carry_out(world, &request.problem, solution, now)
        }
        (ActionKind::Solve(request), _) => failed(world, &request.problem, now),
        _ => Decision::default(),
    }
}

/// The solve failed; part of it is solved again. A pod whose solve fails by itself gets an
/// Event, and waits behind the others.
fn failed(world: &World, problem: &PlacementProblem, now: Time) -> Decision {
    let mut decision = Decision::default();
    decision.remember(Update::PassFailed { at: now, pods: problem.pods.len() });
    if let [pod] = problem.pods.as_slice()
        && let Some(pod) = waiting::asked(world, pod)
    {
        pass::refuse(pod, &NotPlaced::SolveFailed, now, world, &mut decision);
    }
    decision
}
