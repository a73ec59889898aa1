//! Commands before anything is done: proposed by a method, validated after a wait.

use std::collections::BTreeSet;

use super::budgets::Budgets;
use super::candidates::{Candidate, Judge};
use super::method::{METHODS, Method, Way, method_for};
use super::{consolidation, messages, metrics, what_if};
use crate::command::{CandidateRef, Command, CommandUpdate};
use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::Name;
use crate::time::{Span, Time};
use crate::world::World;

/// Candidates must still be candidates so long after they were chosen.
const VALIDATE_AFTER: Span = Span::from_seconds(15);

/// Why a command is dropped whose pods are no longer where they were.
const PODS_CHANGED: &str = "the pods of the nodes, or of those they go to, have changed";

/// How soon to ask again whether pods have been placed.
const RECHECK_AFTER: Span = Span::from_seconds(1);

/// Nodes reported as blocked in one search at most; the others wait for the next.
pub(super) const BLOCKED_EVENTS_MAX: usize = 100;

/// Asks the methods for commands. Returns whether there are candidates, so that it is worth asking
/// again.
pub(super) fn propose(world: &World, now: Time, decision: &mut Decision) -> bool {
    let mut has_candidates = false;
    let mut search = Search {
        judge: Judge::new(world, now),
        budgets: Budgets::of(world, now),
        taken: proposed_claims(world),
    };
    for method in METHODS {
        if matches!(method.way(), Way::Search) {
            let Search { judge, budgets, taken } = &mut search;
            has_candidates |= consolidation::propose(world, judge, budgets, taken, now, decision);
            continue;
        }
        let mut candidates = method.candidates(world, now);
        has_candidates |= !candidates.is_empty();
        candidates.retain(|each| !search.taken.contains(&each.claim.meta.name));
        let is_asking = matches!(method.way(), Way::Move) && what_if::is_asking(world, now);
        if candidates.is_empty() || is_asking {
            continue;
        }
        let admitted = search.admit(*method, candidates, decision);
        match method.way() {
            Way::Move => what_if::propose(world, *method, admitted, now, decision),
            Way::Plan(plan) => {
                for command in plan(world, &admitted, now) {
                    decision.remember(Update::Command(CommandUpdate::Add(Box::new(command))));
                    decision.wake(now + VALIDATE_AFTER);
                }
            }
            Way::Search => {}
        }
    }
    has_candidates
}

/// The claims of commands that wait to be looked at again.
fn proposed_claims(world: &World) -> BTreeSet<Name> {
    let commands = world.memory.commands.proposed();
    commands.flat_map(|command| &command.candidates).map(|it| it.claim.clone()).collect()
}

/// One search over all methods: they share the budgets, and each node is taken once.
struct Search<'a> {
    judge: Judge<'a>,
    budgets: Budgets<'a>,
    taken: BTreeSet<Name>,
}

impl<'a> Search<'a> {
    /// The candidates that may go now, as many as budgets allow. Those that may not are told why.
    fn admit(
        &mut self,
        method: &dyn Method,
        candidates: Vec<Candidate<'a>>,
        decision: &mut Decision,
    ) -> Vec<Candidate<'a>> {
        let reason = method.reason();
        let (mut admitted, mut blocked) = (Vec::new(), 0);
        for candidate in candidates {
            let pool = candidate.pool;
            match self.judge.may_go(method, &candidate) {
                Ok(()) if self.budgets.admit(&candidate, reason) => {
                    self.taken.insert(candidate.claim.meta.name.clone());
                    admitted.push(candidate);
                }
                Ok(()) if self.budgets.is_closed(&pool.spec.name, reason) => {
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
}

/// Drops what no longer holds before its second look is due, so that the next search need not wait
/// for that. Returns whether there was any.
pub(super) fn give_up(world: &World, now: Time, decision: &mut Decision) -> bool {
    let mut has_any = false;
    let waiting = world.memory.commands.proposed().filter(|it| it.is_atomic() && now < due(it));
    for command in waiting {
        let Some(method) = method_for(command.reason) else { continue };
        if method.holds(world, command, now) {
            continue;
        }
        has_any = true;
        let candidates = command.candidates.iter();
        let named: Vec<_> =
            candidates.filter_map(|it| Candidate::named(world, method, it)).collect();
        decision.kubernetes_events.extend(messages::rejected(&named, command, PODS_CHANGED));
        decision.samples.extend(metrics::validations_failed(method, command.candidates.len()));
        let none = CommandUpdate::Validated(command.id.clone(), Vec::new());
        decision.remember(Update::Command(none));
    }
    has_any
}

/// When a command is looked at again: some time after its nodes were chosen.
fn due(command: &Command) -> Time {
    command.planned_at.unwrap_or(command.decided_at) + VALIDATE_AFTER
}

/// Looks at a proposed command again when some time has passed. Candidates that are still ones,
/// still free to go and still within budgets are disrupted; where replacements or destinations
/// were chosen for all of them, all or none.
pub(super) fn validate(world: &World, command: &Command, now: Time, decision: &mut Decision) {
    let due = due(command);
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
    let mut refusal = None;
    for named in &command.candidates {
        let Some(candidate) = Candidate::named(world, method, named) else { continue };
        let is_still = !world.is_leaving(candidate.claim)
            && method.is_candidate(world, &candidate, now)
            && judge.may_go(method, &candidate).is_ok();
        if is_still && budgets.admit(&candidate, command.reason) {
            valid.push(candidate);
        } else if is_still {
            refusal = Some("a candidate can no longer be disrupted without violating budgets");
        }
    }
    if command.is_atomic() {
        let is_whole = valid.len() == command.candidates.len();
        let gone = (!is_whole).then_some("candidates are no longer valid");
        let holds = gone.is_some() || method.holds(world, command, now);
        let moved = (!holds).then_some(PODS_CHANGED);
        if let Some(why) = refusal.or(gone).or(moved) {
            decision.kubernetes_events.extend(messages::rejected(&valid, command, why));
            valid.clear();
        }
    }
    if !valid.is_empty() {
        consolidation::moves(command, now, decision);
    }
    let failed = command.candidates.len() - valid.len();
    decision.samples.extend(metrics::validations_failed(method, failed));
    decision.samples.extend(metrics::decided(method, command, &valid));
    let valid: Vec<CandidateRef> = valid.iter().map(Candidate::reference).collect();
    decision.remember(Update::Command(CommandUpdate::Validated(command.id.clone(), valid)));
    decision.wake(now);
}
