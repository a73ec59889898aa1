//! Commands that passed validation, step by step: taint and record the candidates, launch the
//! replacements, wait until they are up, ask the API server for pods that no watch told of, delete
//! the candidates.
//!
//! Each step is read off the stored objects, so it does not matter who took the one before.

use std::sync::Arc;

use kerf_model::budget::DisruptionReason;

use super::budgets::Budgets;
use super::candidates::{Candidate, Judge};
use super::method::{Method, method_for};
use super::{hold_off, marks, messages, metrics};
use crate::action::{Action, ActionKind};
use crate::command::{CandidateRef, Command, CommandState, CommandUpdate, Replacement, record};
use crate::condition::claim::INITIALIZED;
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::Update;
use crate::observed::{Claim, Name};
use crate::planners::drain;
use crate::planners::provisioning::Usage;
use crate::reason::{Blocked, Cancelled, Reason};
use crate::time::{Span, Time};
use crate::world::World;

/// How soon to look whether the next step can be taken, if nothing changes.
const STEP_WITHIN: Span = Span::from_seconds(1);

/// Bounds of the time replacements have to come up, from the proposal of their command on; and
/// what each candidate under way adds, because many launches take turns. Karpenter gives up then
/// too.
const REPLACED_WITHIN_MIN: Span = Span::from_minutes(10);
const REPLACED_WITHIN_MAX: Span = Span::from_minutes(60);
/// A replacement of that age was waited for to the end: its command was proposed a moment before.
pub(super) const LATE_AFTER: Span = Span::from_minutes(9);
const REPLACED_WITHIN_PER_CANDIDATE: Span = Span::from_millis(80);

/// Whether candidates may go on being disrupted; what it takes to answer is read once. What is
/// only decided on does not count as away: each candidate takes its own share of the budget.
pub(super) struct Checks<'a> {
    world: &'a World,
    now: Time,
    judge: Judge<'a>,
    budgets: Budgets<'a>,
    usage: Usage<'a>,
}

/// How far the replacements of a command are.
enum Progress {
    Ready,
    Waiting,
    Failed(Cancelled),
}

impl<'a> Checks<'a> {
    pub(super) fn new(world: &'a World, now: Time) -> Self {
        let (judge, budgets) = (Judge::new(world, now), Budgets::stored(world, now));
        Self { world, now, judge, budgets, usage: Usage::of(world) }
    }

    /// The claim as a candidate, if it still is one and may go.
    pub(super) fn still(
        &mut self,
        method: &dyn Method,
        claim: &'a Claim,
    ) -> Result<Candidate<'a>, Cancelled> {
        let candidate = method.candidate(self.world, claim);
        let candidate = candidate.filter(|each| method.is_candidate(self.world, each, self.now));
        let candidate = candidate.ok_or(Cancelled::NotCandidate)?;
        self.may_go(&candidate, method).map_err(Cancelled::Blocked)?;
        Ok(candidate)
    }

    /// Whether a node may go by itself, its pool's budgets and its pods.
    pub(super) fn may_go(
        &mut self,
        candidate: &Candidate<'a>,
        method: &dyn Method,
    ) -> Result<(), Blocked> {
        let reason = method.reason();
        self.judge.may_go(method, candidate)?;
        // A node that is not ready counts as away already, but for those who repair it.
        let is_repair = reason == DisruptionReason::Unhealthy;
        let is_away = !candidate.node.is_ready && !is_repair
            || candidate.node.meta.is_deleting()
            || self.world.may_be_going(candidate.claim);
        if is_away || self.budgets.admit(candidate, reason) {
            return Ok(());
        }
        Err(Blocked::Budget { reason })
    }
}

/// How long replacements may take to come up.
pub(super) fn replaced_within(world: &World) -> Span {
    let candidates: usize =
        world.memory.commands.executing().map(|command| command.candidates.len()).sum();
    let candidates = u64::try_from(candidates).unwrap_or(u64::MAX);
    let wanted = REPLACED_WITHIN_PER_CANDIDATE.times(candidates);
    wanted.max(REPLACED_WITHIN_MIN).min(REPLACED_WITHIN_MAX)
}

/// Takes the next step of every command that passed validation. What no longer may go is spared.
pub(super) fn advance(world: &World, now: Time, decision: &mut Decision) {
    let commands = world.memory.commands.executing();
    let pending: Vec<(&Command, Vec<&Claim>)> = commands
        .map(|command| (command, pending_claims(world, command)))
        .filter(|(_, claims)| !claims.is_empty())
        .collect();
    if pending.is_empty() {
        return;
    }
    decision.remember(Update::Advanced(now));
    let mut checks = Checks::new(world, now);
    for (command, claims) in pending {
        match method_for(command.reason) {
            Some(method) => step(world, command, method, &claims, &mut checks, now, decision),
            None => roll_back(world, command, &Cancelled::Abandoned, now, decision),
        }
    }
    decision.wake(now + STEP_WITHIN);
}

/// What a finished deletion means for a command.
pub(in crate::planners) fn conclude(
    world: &World,
    action: &Action,
    outcome: &Outcome,
    now: Time,
) -> Decision {
    let mut decision = Decision::default();
    if let (ActionKind::DeleteClaim { name, .. }, Outcome::Done) = (&action.kind, outcome)
        && let Reason::Disruption { reason, .. } = action.reason
        && let Some(method) = method_for(reason)
        && let Some(candidate) = world.claims.get(name).and_then(|it| method.candidate(world, it))
    {
        decision.samples.extend(metrics::removed(world, &candidate, reason));
        if reason == DisruptionReason::Unhealthy {
            decision.samples.extend(metrics::replaced(world, &candidate, now));
        }
    }
    decision
}

/// The candidates that do not go yet, as far as is known: watches may be silent about one whose
/// deletion was taken.
fn pending_claims<'a>(world: &'a World, command: &Command) -> Vec<&'a Claim> {
    let claim = |named: &CandidateRef| {
        let claim: &Claim = world.claims.get(&named.claim)?;
        (claim.meta.uid == named.uid && stays(world, claim)).then_some(claim)
    };
    command.candidates.iter().filter_map(claim).collect()
}

fn step<'a>(
    world: &'a World,
    command: &Command,
    method: &dyn Method,
    claims: &[&'a Claim],
    checks: &mut Checks<'a>,
    now: Time,
    decision: &mut Decision,
) {
    let is_whole = command.is_atomic() && command.state == CommandState::Executing;
    let mut candidates = Vec::new();
    for claim in claims {
        match checks.still(method, claim) {
            Ok(candidate) => candidates.push(candidate),
            Err(cause) if is_whole => return roll_back(world, command, &cause, now, decision),
            Err(cause) => spare(world, command, claim, &cause, now, decision),
        }
    }
    if let Some(claim) = gone_since(world, command) {
        let cause = Cancelled::ReplacementGone { claim };
        return claims.iter().for_each(|it| spare(world, command, it, &cause, now, decision));
    }
    if is_whole && now >= command.decided_at + replaced_within(world) {
        return roll_back(world, command, &Cancelled::TimedOut, now, decision);
    }
    let total = candidates.len();
    candidates.retain(|candidate| marks::set(command, candidate, now, decision));
    if candidates.is_empty() || is_whole && candidates.len() < total {
        return;
    }
    if command.state == CommandState::Executing {
        match replace(world, command, checks, decision) {
            Progress::Ready => {}
            Progress::Waiting => return,
            Progress::Failed(cause) => return roll_back(world, command, &cause, now, decision),
        }
        hold_off::succeeded(world, command, decision);
        decision.remember(Update::Command(CommandUpdate::Deleting(command.id.clone())));
    }
    for candidate in &candidates {
        // It is closed by now: what the API server says of its pods holds until it is drained.
        if !drain::is_confirmed(world, candidate.node, now, decision) {
            continue;
        }
        let within = method.drain_within(world, candidate, now);
        if within
            .is_some_and(|within| !marks::limit_drain(command, candidate, now + within, decision))
        {
            continue;
        }
        let (name, uid) = (candidate.claim.meta.name.clone(), candidate.claim.meta.uid.clone());
        let cause = method.cause(world, candidate, now).map(Box::new);
        let why = Reason::Disruption { reason: command.reason, command: command.id.clone(), cause };
        decision.act(ActionKind::DeleteClaim { name, uid }, why);
        decision.kubernetes_events.extend(messages::terminating(candidate, command.reason));
    }
}

/// A replacement that was up when the deletion of candidates began, and is not there any more. What
/// is not deleted yet had better stay.
fn gone_since(world: &World, command: &Command) -> Option<Name> {
    let is_there = |name: &Name| world.claims.get(name).is_some_and(|it| stays(world, it));
    let mut names = command.replacements.iter().map(Replacement::name);
    names.find(|name| command.state == CommandState::Deleting && !is_there(name))
}

/// Launches the replacements, once, and waits until all are up and stand by themselves.
fn replace(
    world: &World,
    command: &Command,
    checks: &mut Checks<'_>,
    decision: &mut Decision,
) -> Progress {
    let planned = |each: &Replacement| match each {
        Replacement::Planned(claim) => Some((**claim).clone()),
        Replacement::Ordered(_) => None,
    };
    let planned: Vec<_> = command.replacements.iter().filter_map(planned).collect();
    if !planned.is_empty() {
        let candidates = command.candidates.iter().filter_map(|it| world.claims.get(&it.claim));
        if let Err(cause) = checks.usage.replace(candidates.map(Arc::as_ref), &planned) {
            return Progress::Failed(Cancelled::LimitReached(cause));
        }
        let id = command.id.clone();
        decision.remember(Update::Command(CommandUpdate::ReplacementsOrdered(id)));
        for claim in planned {
            decision.remember(Update::Create(Box::new(claim)));
        }
        return Progress::Waiting;
    }
    let mut is_ready = true;
    let mut marked = Vec::new();
    for name in command.replacements.iter().map(Replacement::name) {
        match world.claims.get(&name).filter(|claim| stays(world, claim)) {
            Some(claim) => {
                is_ready &= claim.status.conditions.is_true(INITIALIZED);
                marked.extend(record::replacement_for(claim).map(|_| claim));
            }
            None if is_being_created(world, &name) => is_ready = false,
            None => return Progress::Failed(Cancelled::ReplacementGone { claim: name }),
        }
    }
    if !is_ready {
        return Progress::Waiting;
    }
    for claim in &marked {
        marks::keep_replacement(claim, decision);
    }
    if marked.is_empty() { Progress::Ready } else { Progress::Waiting }
}

fn is_being_created(world: &World, name: &Name) -> bool {
    !world.claims.contains_key(name) && world.memory.creating.contains_key(name)
}

/// Whether nobody has deleted a claim, as far as is known.
pub(super) fn stays(world: &World, claim: &Claim) -> bool {
    !claim.meta.is_deleting() && !world.is_deletion_taken(claim)
}

/// Takes one candidate out of its command, but for one that may be going: whether it is, a watch
/// will tell.
fn spare(
    world: &World,
    command: &Command,
    claim: &Claim,
    cause: &Cancelled,
    now: Time,
    decision: &mut Decision,
) {
    if world.may_be_going(claim) {
        return;
    }
    let name = claim.meta.name.clone();
    decision.remember(Update::Command(CommandUpdate::Spared(command.id.clone(), name)));
    marks::clear(world, claim, cause, now, decision);
}

/// Ends a command as if it had never been: candidates stay, replacements go unless in use. What is
/// not done at once, [recovery](super::recovery) does.
fn roll_back(
    world: &World,
    command: &Command,
    cause: &Cancelled,
    now: Time,
    decision: &mut Decision,
) {
    decision.remember(Update::Command(CommandUpdate::RolledBack(command.id.clone())));
    decision.samples.push(metrics::failed(command));
    hold_off::failed(world, command, cause, now, decision);
    for claim in pending_claims(world, command) {
        marks::clear(world, claim, cause, now, decision);
    }
    for name in command.replacements.iter().map(Replacement::name) {
        if is_being_created(world, &name) {
            decision.remember(Update::ForgetClaim(name));
        }
    }
}
