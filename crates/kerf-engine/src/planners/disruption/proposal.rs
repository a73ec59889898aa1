//! Commands before anything is done: proposed by a method, validated after a wait.

use super::budgets::Budgets;
use super::candidates::{Candidate, Judge};
use super::method::{METHODS, Method, method_for};
use super::{messages, metrics};
use crate::command::{CandidateRef, Command, CommandUpdate};
use crate::decision::Decision;
use crate::memory::Update;
use crate::time::{Span, Time};
use crate::world::World;

/// Candidates must still be candidates so long after they were chosen.
const VALIDATE_AFTER: Span = Span::from_seconds(15);

/// How soon to ask again whether pods have been placed.
const RECHECK_AFTER: Span = Span::from_seconds(1);

/// Nodes reported as blocked in one search at most; the others wait for the next.
const BLOCKED_EVENTS_MAX: usize = 100;

/// Asks the methods in turn for commands, until one has any. Returns whether there are candidates,
/// so that it is worth asking again.
pub(super) fn propose(world: &World, now: Time, decision: &mut Decision) -> bool {
    let mut has_candidates = false;
    for method in METHODS {
        let candidates = method.candidates(world);
        if candidates.is_empty() {
            continue;
        }
        has_candidates = true;
        let admitted = admit(world, *method, candidates, now, decision);
        let commands = method.commands(world, &admitted, now);
        if !commands.is_empty() {
            for command in commands {
                decision.remember(Update::Command(CommandUpdate::Add(Box::new(command))));
            }
            decision.wake(now + VALIDATE_AFTER);
            break;
        }
    }
    has_candidates
}

/// The candidates that may go now, as many as budgets allow. Those that may not are told why.
fn admit<'a>(
    world: &'a World,
    method: &dyn Method,
    candidates: Vec<Candidate<'a>>,
    now: Time,
    decision: &mut Decision,
) -> Vec<Candidate<'a>> {
    let mut judge = Judge::new(world, now);
    let mut budgets = Budgets::of(world, now);
    let reason = method.reason();
    let (mut admitted, mut blocked) = (Vec::new(), 0);
    for candidate in candidates {
        let pool = candidate.pool;
        match judge.may_go(&candidate) {
            Ok(()) if budgets.take(&pool.spec.name, reason) => admitted.push(candidate),
            Ok(()) if budgets.is_closed(&pool.spec.name, reason) => {
                decision.record(messages::pool_closed(&pool.meta.name, reason));
            }
            Ok(()) => {}
            Err(cause) if blocked < BLOCKED_EVENTS_MAX => {
                blocked += 1;
                decision.kubernetes_events.extend(messages::blocked(&candidate, &cause));
            }
            Err(_) => {}
        }
    }
    admitted
}

/// Looks at a proposed command again when some time has passed. Candidates that are still ones,
/// still free to go and still within budgets are disrupted; where replacements or destinations
/// were chosen for all of them, all or none.
pub(super) fn validate(world: &World, command: &Command, now: Time, decision: &mut Decision) {
    let due = command.decided_at + VALIDATE_AFTER;
    if now < due {
        return decision.wake(due);
    }
    // Pods that are being placed may need these very nodes; they have a moment to say so.
    let batch = &world.memory.batch;
    let places_pods = batch.is_solving || batch.opened_at.is_some();
    if places_pods && now < due + world.settings.batch_max {
        return decision.wake(now + RECHECK_AFTER);
    }
    let Some(method) = method_for(command.reason) else { return };
    let mut judge = Judge::new(world, now);
    let mut budgets = Budgets::of(world, now);
    let mut valid: Vec<Candidate<'_>> = Vec::new();
    for named in &command.candidates {
        let Some(candidate) = Candidate::named(world, named) else { continue };
        if method.is_candidate(world, &candidate)
            && judge.may_go(&candidate).is_ok()
            && budgets.take(&candidate.pool.spec.name, command.reason)
        {
            valid.push(candidate);
        }
    }
    if command.is_atomic() && valid.len() < command.candidates.len() {
        valid.clear();
    }
    let failed = command.candidates.len() - valid.len();
    decision.samples.extend(metrics::validations_failed(method, failed));
    decision.samples.extend(metrics::decided(method, command, &valid));
    let valid: Vec<CandidateRef> = valid.iter().map(Candidate::reference).collect();
    decision.remember(Update::Command(CommandUpdate::Validated(command.id.clone(), valid)));
    decision.wake(now);
}
