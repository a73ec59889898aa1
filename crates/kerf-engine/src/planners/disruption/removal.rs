//! Carrying a removal out: close the node, write down why, delete the claim.

use kerf_model::budget::DisruptionReason;
use kerf_model::taint::disrupted;

use super::budgets::Budgets;
use super::candidates::{Candidate, Judge};
use super::{emptiness, messages, metrics, stale_taints};
use crate::action::{Action, ActionKind, NodePatch};
use crate::condition::Draft;
use crate::condition::claim::{DEPENDENTS, DISRUPTION_REASON};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::{Removal, Update};
use crate::observed::{Claim, Name, Node};
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// How soon to look whether the next step can be taken, if no news comes.
const STEP_WITHIN: Span = Span::from_seconds(1);

/// Takes the next step of every removal under way. What no longer may go is spared.
pub(super) fn advance(world: &World, now: Time, decision: &mut Decision) {
    let pending = world.memory.removals.iter().filter_map(|(name, removal)| {
        let claim: &Claim = world.claims.get(name)?;
        (!claim.meta.is_deleting()).then_some((name, claim, removal))
    });
    let pending: Vec<(&Name, &Claim, &Removal)> = pending.collect();
    if pending.is_empty() {
        return;
    }
    let mut judge = Judge::new(world, now);
    let mut budgets = Budgets::stored(world, now);
    for (name, claim, removal) in pending {
        let candidate = match removal.reason {
            DisruptionReason::Empty => emptiness::is_still_empty(world, name),
            // Nothing chooses nodes for these reasons.
            DisruptionReason::Drifted | DisruptionReason::Underutilized => None,
        };
        let kept = candidate.filter(|candidate| {
            judge.may_go(candidate).is_ok()
                && (is_counted_away(candidate)
                    || budgets.take(&candidate.pool.spec.name, removal.reason))
        });
        match kept {
            Some(candidate) => step(&candidate, removal, now, decision),
            None => spare(world, claim, now, decision),
        }
    }
    decision.wake(now + STEP_WITHIN);
}

/// What a finished deletion means for a removal.
pub(in crate::planners) fn conclude(world: &World, action: &Action, outcome: &Outcome) -> Decision {
    let mut decision = Decision::default();
    if let (ActionKind::DeleteClaim { name, .. }, Outcome::Done) = (&action.kind, outcome)
        && let Reason::Disruption(reason) = action.reason
        && let Some(candidate) = world.claims.get(name).and_then(|it| Candidate::of(world, it))
    {
        decision.samples.extend(metrics::removed(world, &candidate, reason));
    }
    decision
}

fn step(candidate: &Candidate<'_>, removal: &Removal, now: Time, decision: &mut Decision) {
    let Candidate { claim, node, .. } = *candidate;
    let why = Reason::Disruption(removal.reason);
    let is_closed = node.taints.contains(&disrupted());
    let has_reason = claim.status.conditions.is_true(DISRUPTION_REASON);
    if !is_closed {
        decision.act(close(node), why.clone());
    }
    if !has_reason {
        let kind = give_reason(claim, removal.reason, now);
        decision.act(kind, why.clone());
    }
    if is_closed && has_reason {
        let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
        decision.act(ActionKind::DeleteClaim { name, uid }, why);
        decision.kubernetes_events.extend(messages::terminating(candidate, removal.reason));
    }
}

/// Forgets a removal and takes its marks off.
fn spare(world: &World, claim: &Claim, now: Time, decision: &mut Decision) {
    decision.remember(Update::Unmark(claim.meta.name.clone()));
    stale_taints::clear_claim(claim, now, decision);
    if let Some(node) = world.node_of(claim) {
        stale_taints::reopen_node(node, decision);
    }
}

/// A node that is not ready counts as away already.
fn is_counted_away(candidate: &Candidate<'_>) -> bool {
    !candidate.node.is_ready || candidate.node.meta.is_deleting()
}

fn close(node: &Node) -> ActionKind {
    let patch = NodePatch { taints_added: vec![disrupted()], ..NodePatch::default() };
    ActionKind::PatchNode { name: node.meta.name.clone(), uid: node.meta.uid.clone(), patch }
}

fn give_reason(claim: &Claim, reason: DisruptionReason, now: Time) -> ActionKind {
    let mut conditions = Draft::of(&claim.status.conditions, &DEPENDENTS, &claim.meta, now);
    conditions.set_true_because(DISRUPTION_REASON, reason.as_str(), reason.as_str());
    let mut status = claim.status.clone();
    status.conditions = conditions.into_conditions();
    let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
    ActionKind::WriteClaimStatus { name, revision, status: Box::new(status) }
}
