//! Nodes that could go so that the cluster costs less: the same pods on fewer or cheaper nodes.
//!
//! ```text
//!  due ─► snapshot ─ Solve ─► wave: moves that still hold ─► proposed ─ 15 s ─► validated
//!   ▲                                                                              │
//!   └──────────────── the cluster changed, or five minutes passed ◄────────────────┘
//! ```
//!
//! The search looks at the whole cluster and runs beside everything else. Its answer is judged in
//! the world of then: moves whose nodes were touched drop out, the others stay.

mod changes;
mod dry_run;
mod eligibility;
mod hysteresis;
mod snapshot;
mod wave;

pub(super) use changes::{has_changed, is_change_by_end};
pub use dry_run::consolidation_snapshot;
pub(in crate::planners) use hysteresis::launched;
pub(super) use hysteresis::moves;
pub(in crate::planners) use wave::conclude;

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_consolidation::Ineligible;
use kerf_model::budget::{Allowed, DisruptionReason};

use super::budgets::Budgets;
use super::candidates::{Candidate, Judge};
use super::messages;
use super::method::{Method, Way};
use crate::action::ActionKind;
use crate::command::Command;
use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::Name;
use crate::reason::Reason;
use crate::solve::SolveRequest;
use crate::time::{Span, Time};
use crate::world::World;
use hysteresis::Undone;
use snapshot::Painter;

/// Removes and replaces nodes so that the cluster costs less.
pub(super) struct Consolidation;

/// An answer that has not come by now will not: the engine gave its solve up.
const ANSWER_WITHIN: Span = Span::from_minutes(2);

/// Where nothing was found and nothing has changed, prices and clocks may have: they are looked at
/// again after so long.
const IDLE_AT_MOST: Span = Span::from_minutes(5);

/// How long the next wave waits for the nodes of the last to be gone: their pods mix with those of
/// the next on the same nodes. Drains that take longer hold nothing up.
const WAVE_WITHIN: Span = Span::from_minutes(2);

/// How soon to look again while a wave is under way.
const LOOK_AGAIN: Span = Span::from_seconds(10);

impl Method for Consolidation {
    fn reason(&self) -> DisruptionReason {
        DisruptionReason::Underutilized
    }

    fn consolidation_type(&self, candidates: usize) -> &'static str {
        if candidates > 1 { "multi" } else { "single" }
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn way(&self) -> Way {
        Way::Search
    }

    fn candidates<'a>(&self, world: &'a World, now: Time) -> Vec<Candidate<'a>> {
        let staying = world.claims.values().map(Arc::as_ref).filter(|it| !world.is_leaving(it));
        let candidates = staying.filter_map(|claim| Candidate::of(world, claim));
        let candidates = candidates.filter(|each| {
            self.is_candidate(world, each, now)
                && eligibility::judge(world, each, now).is_ok()
                && !eligibility::is_empty(world, each)
        });
        candidates.collect()
    }

    /// Whether its pool still wants it consolidated. That pods come and go while replacements come
    /// up stops nothing: the clock of `consolidateAfter` counts when nodes are chosen.
    fn is_candidate(&self, world: &World, candidate: &Candidate<'_>, _: Time) -> bool {
        eligibility::is_wanted(world, candidate)
    }

    fn holds(&self, world: &World, command: &Command, now: Time) -> bool {
        wave::holds(world, command, now)
    }
}

/// Begins a search if one is due. Returns whether there is something to come back for soon.
pub(super) fn propose<'a>(
    world: &'a World,
    judge: &mut Judge<'a>,
    budgets: &Budgets<'a>,
    taken: &BTreeSet<Name>,
    now: Time,
    decision: &mut Decision,
) -> bool {
    if let Err(again) = due(world, budgets, now) {
        if let Some(at) = again {
            decision.wake(at);
        }
        return false;
    }
    let candidates = Consolidation.candidates(world, now);
    if candidates.is_empty() {
        return false;
    }
    let closed = closed_pools(budgets, &candidates);
    for pool in &closed {
        decision.record(messages::pool_closed(pool, Consolidation.reason()));
    }
    let undone = Undone::default();
    let painter = Painter { world, judge, taken, closed: &closed, plans_empty: false, undone, now };
    let (problem, consolidation) = painter.paint(budgets, decision);
    let is_search = !consolidation.candidates.is_empty();
    let is_waiting = consolidation.nodes.iter().any(|it| it.may_go == Err(Ineligible::Nominated));
    decision.remember(Update::ConsolidationAsked { at: now, closed, is_search, is_waiting });
    if !is_search {
        return true;
    }
    let (reason, nodes) = (Consolidation.reason(), consolidation.candidates.len());
    let request = SolveRequest::consolidation(problem, consolidation, now);
    decision.act(ActionKind::Solve(request), Reason::PlacesUnknown { reason, nodes });
    false
}

/// Whether to search now; if not, when to look again, where that is known.
fn due(world: &World, budgets: &Budgets<'_>, now: Time) -> Result<(), Option<Time>> {
    let memory = &world.memory.consolidation;
    if let Some(asked_at) = memory.asked_at
        && now < asked_at + ANSWER_WITHIN
    {
        return Err(Some(asked_at + ANSWER_WITHIN));
    }
    if is_proposed(world) {
        return Err(None);
    }
    if is_moving(world, now) {
        return Err(Some(now + LOOK_AGAIN));
    }
    let Some(since) = memory.idle_since.filter(|since| now < *since + IDLE_AT_MOST) else {
        return Ok(());
    };
    if memory.closed.is_empty() {
        return Err(Some(since + IDLE_AT_MOST));
    }
    // A window may have opened.
    match memory.closed.iter().any(|pool| left(budgets, pool) != Some(0)) {
        true => Ok(()),
        false => Err(Some(now + LOOK_AGAIN)),
    }
}

/// Whether a plan is being carried out and nothing of its waves so far holds up the next.
pub(super) fn has_next_wave(world: &World, now: Time) -> bool {
    let memory = &world.memory.consolidation;
    memory.plan.is_some()
        && memory.asked_at.is_none()
        && !is_proposed(world)
        && !is_moving(world, now)
}

/// Whether a wave waits for its second look: it has not begun.
fn is_proposed(world: &World) -> bool {
    let reason = Consolidation.reason();
    world.memory.commands.proposed().any(|command| command.reason == reason)
}

/// Whether the nodes of a wave are still there whose pods go to others.
fn is_moving(world: &World, now: Time) -> bool {
    let reason = Consolidation.reason();
    let mut own = world.memory.commands.executing().filter(|command| command.reason == reason);
    own.any(|command| command.replacements.is_empty() && now < command.decided_at + WAVE_WITHIN)
}

/// The pools of these candidates that may lose nothing now.
fn closed_pools(budgets: &Budgets<'_>, candidates: &[Candidate<'_>]) -> BTreeSet<Name> {
    let pools: BTreeSet<&Name> = candidates.iter().map(|each| &each.pool.meta.name).collect();
    pools.into_iter().filter(|pool| left(budgets, pool) == Some(0)).cloned().collect()
}

/// How many nodes of a pool may go now, where there is a bound.
fn left(budgets: &Budgets<'_>, pool: &Name) -> Option<usize> {
    match budgets.left(pool, Consolidation.reason()) {
        Allowed::Unlimited => None,
        Allowed::AtMost(count) => Some(count as usize),
    }
}
