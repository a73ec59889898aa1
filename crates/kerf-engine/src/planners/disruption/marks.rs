//! What a command leaves on stored objects: the taint, the condition and the annotations.

use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;
use kerf_model::labels::well_known::{
    EXCLUDE_FROM_LOAD_BALANCERS, EXCLUDE_FROM_LOAD_BALANCERS_VALUE,
};
use kerf_model::taint::{DISRUPTED_KEY, disrupted};

use super::candidates::Candidate;
use crate::action::{ActionKind, MetadataPatch, NodePatch};
use crate::command::Command;
use crate::command::record::{COMMAND, REPLACEMENT_FOR, Record};
use crate::condition::Draft;
use crate::condition::claim::{DEPENDENTS, DISRUPTION_REASON};
use crate::decision::Decision;
use crate::observed::{Claim, Node};
use crate::reason::{Cancelled, Reason};
use crate::time::Time;
use crate::timestamp::{parse_rfc3339, rfc3339};
use crate::world::World;

/// Asks for what a candidate lacks. Returns whether it lacks nothing. The record comes before the
/// condition: a condition without one speaks of a command that needs none.
pub(super) fn set(
    command: &Command,
    candidate: &Candidate<'_>,
    now: Time,
    decision: &mut Decision,
) -> bool {
    let Candidate { claim, node, .. } = *candidate;
    let is_tainted = node.taints.contains(&disrupted());
    if !is_tainted {
        let patch = NodePatch { taints_added: vec![disrupted()], ..NodePatch::default() };
        decision.act(patch_node(node, patch), reason(command));
    }
    let patch = record_patch(command, claim);
    let is_recorded = patch.is_none();
    let has_condition = has_condition(claim);
    if let Some(patch) = patch {
        decision.act(patch_claim(claim, patch), reason(command));
    } else if !claim.status.conditions.is_true(DISRUPTION_REASON) {
        let word = command.reason.as_str();
        let kind = write_conditions(claim, now, |draft| {
            draft.set_true_because(DISRUPTION_REASON, word, word);
        });
        decision.act(kind, reason(command));
    }
    is_tainted && is_recorded && has_condition
}

/// What a claim lacks of the record of a command, or carries of another command that is over.
fn record_patch(command: &Command, claim: &Claim) -> Option<MetadataPatch> {
    match Record::of(command, &claim.meta.name) {
        Some(record) => {
            let is_there = Record::on(claim).is_some_and(|own| own.id == command.id);
            let annotations = [(COMMAND.to_owned(), record.to_text())].into();
            (!is_there).then(|| MetadataPatch { annotations, ..MetadataPatch::default() })
        }
        None => claim.annotations().contains_key(COMMAND).then(|| without(COMMAND)),
    }
}

/// Why the steps of a command are taken.
pub(super) fn reason(command: &Command) -> Reason {
    Reason::Disruption { reason: command.reason, command: command.id.clone(), cause: None }
}

/// Sets the time by which a candidate's pods must be gone, unless an earlier one is set. Returns
/// whether it is set.
pub(super) fn limit_drain(
    command: &Command,
    candidate: &Candidate<'_>,
    deadline: Time,
    decision: &mut Decision,
) -> bool {
    let claim = candidate.claim;
    let known = claim.annotations().get(TERMINATION_TIMESTAMP);
    // Stored times are cut to whole seconds.
    if known.and_then(|text| parse_rfc3339(text)).is_some_and(|known| known <= deadline) {
        return true;
    }
    let annotations = [(TERMINATION_TIMESTAMP.to_owned(), rfc3339(deadline))].into();
    let patch = MetadataPatch { annotations, ..MetadataPatch::default() };
    decision.act(patch_claim(claim, patch), reason(command));
    false
}

/// Takes everything off a claim and its node that stay. What may be going stays closed.
pub(super) fn clear(
    world: &World,
    claim: &Claim,
    cause: &Cancelled,
    now: Time,
    decision: &mut Decision,
) {
    if world.may_be_going(claim) {
        return;
    }
    // One write about a claim at a time; the record goes last, because it says what belongs to it.
    if has_condition(claim) {
        let kind = write_conditions(claim, now, |draft| {
            draft.clear(DISRUPTION_REASON).expect("readiness does not depend on it");
        });
        decision.act(kind, Reason::DisruptionCancelled(cause.clone()));
    } else if claim.annotations().contains_key(COMMAND) {
        let kind = patch_claim(claim, without(COMMAND));
        decision.act(kind, Reason::DisruptionCancelled(cause.clone()));
    }
    // What a notice closed stays closed.
    let is_interrupted = world.memory.interrupted.contains_key(&claim.meta.name);
    if let Some(node) = world.node_of(claim).filter(|_| !is_interrupted) {
        untaint(node, cause, decision);
    }
}

/// Lets pods and load balancers come to a node again, unless the node itself is being deleted: the
/// same taint keeps it closed while it is drained.
pub(super) fn untaint(node: &Node, cause: &Cancelled, decision: &mut Decision) {
    if !is_tainted(node) || node.meta.is_deleting() {
        return;
    }
    let marks = node.taints.iter().filter(|taint| taint.key == DISRUPTED_KEY);
    let is_excluded = node.labels.get(EXCLUDE_FROM_LOAD_BALANCERS).map(String::as_str)
        == Some(EXCLUDE_FROM_LOAD_BALANCERS_VALUE);
    let patch = NodePatch {
        taints_removed: marks.cloned().collect(),
        labels_removed: is_excluded
            .then(|| EXCLUDE_FROM_LOAD_BALANCERS.to_owned())
            .into_iter()
            .collect(),
        ..NodePatch::default()
    };
    decision.act(patch_node(node, patch), Reason::DisruptionCancelled(cause.clone()));
}

/// Makes a replacement a claim like any other.
pub(super) fn keep_replacement(claim: &Claim, decision: &mut Decision) {
    decision.act(patch_claim(claim, without(REPLACEMENT_FOR)), Reason::ReplacementKept);
}

/// Whether a claim says why it is disrupted.
pub(super) fn has_condition(claim: &Claim) -> bool {
    claim.status.conditions.get(DISRUPTION_REASON).is_some()
}

/// Whether a node is closed to pods because it is disrupted.
pub(super) fn is_tainted(node: &Node) -> bool {
    node.is_closed()
}

fn without(annotation: &str) -> MetadataPatch {
    let annotations_removed = [annotation.to_owned()].into();
    MetadataPatch { annotations_removed, ..MetadataPatch::default() }
}

fn patch_claim(claim: &Claim, patch: MetadataPatch) -> ActionKind {
    let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
    ActionKind::PatchClaim { name, revision, patch }
}

fn patch_node(node: &Node, patch: NodePatch) -> ActionKind {
    let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
    ActionKind::PatchNode { name, uid, patch }
}

fn write_conditions(claim: &Claim, now: Time, change: impl FnOnce(&mut Draft<'_>)) -> ActionKind {
    let mut conditions = Draft::of(&claim.status.conditions, &DEPENDENTS, &claim.meta, now);
    change(&mut conditions);
    let mut status = claim.status.clone();
    status.conditions = conditions.into_conditions();
    let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
    ActionKind::WriteClaimStatus { name, revision, status: Box::new(status) }
}
