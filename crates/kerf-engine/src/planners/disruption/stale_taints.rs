//! Marks of removals that nobody carries out any more, as a crash leaves them behind.

use kerf_model::taint::DISRUPTED_KEY;

use crate::action::{ActionKind, NodePatch};
use crate::condition::Draft;
use crate::condition::claim::{DEPENDENTS, DISRUPTION_REASON};
use crate::decision::Decision;
use crate::observed::{Claim, Node};
use crate::reason::Reason;
use crate::time::Time;
use crate::world::World;

/// Takes the marks off every claim and node that stays. Returns whether there were any.
pub(super) fn advance(world: &World, now: Time, decision: &mut Decision) -> bool {
    let before = decision.actions.len();
    // The marks are asked first: hardly anything carries them.
    for claim in world.claims.values().filter(|claim| has_reason(claim)) {
        if stays(world, claim) {
            clear_claim(claim, now, decision);
        }
    }
    for node in world.nodes.values().filter(|node| is_closed(node) && !node.meta.is_deleting()) {
        if world.claim_of(node).is_some_and(|claim| stays(world, claim)) {
            reopen_node(node, decision);
        }
    }
    decision.actions.len() > before
}

/// Lets pods come to a node again.
pub(super) fn reopen_node(node: &Node, decision: &mut Decision) {
    if !is_closed(node) {
        return;
    }
    let marks = node.taints.iter().filter(|taint| taint.key == DISRUPTED_KEY);
    let patch = NodePatch { taints_removed: marks.cloned().collect(), ..NodePatch::default() };
    let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
    decision.act(ActionKind::PatchNode { name, uid, patch }, Reason::DisruptionCancelled);
}

/// Takes the reason off a claim that stays.
pub(super) fn clear_claim(claim: &Claim, now: Time, decision: &mut Decision) {
    if !has_reason(claim) {
        return;
    }
    let mut conditions = Draft::of(&claim.status.conditions, &DEPENDENTS, &claim.meta, now);
    conditions.clear(DISRUPTION_REASON).expect("readiness does not depend on it");
    let mut status = claim.status.clone();
    status.conditions = conditions.into_conditions();
    let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
    let kind = ActionKind::WriteClaimStatus { name, revision, status: Box::new(status) };
    decision.act(kind, Reason::DisruptionCancelled);
}

fn stays(world: &World, claim: &Claim) -> bool {
    !world.is_leaving(claim) && world.is_supported(&claim.spec.node.node_class)
}

fn has_reason(claim: &Claim) -> bool {
    claim.status.conditions.get(DISRUPTION_REASON).is_some()
}

fn is_closed(node: &Node) -> bool {
    node.taints.iter().any(|taint| taint.key == DISRUPTED_KEY)
}
