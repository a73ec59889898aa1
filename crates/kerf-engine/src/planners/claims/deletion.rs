//! The end of a claim: its node goes, then its instance, then its finalizer.

use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;

use super::super::termination;
use super::work::Work;
use crate::action::ActionKind;
use crate::condition::claim::{INSTANCE_TERMINATING, REGISTERED};
use crate::decision::Decision;
use crate::event::{Failure, Key};
use crate::observed::{Claim, Node};
use crate::reason::Reason;
use crate::time::Time;
use crate::timestamp::rfc3339;
use crate::world::World;

/// What a claim whose deletion was asked for needs.
pub(super) fn plan(world: &World, claim: &Claim, now: Time) -> Decision {
    let mut work = Work::on(world, claim, now);
    if !claim.is_guarded() {
        return work.decision;
    }
    set_deadline(&mut work);
    if world.memory.terminate_asked_at.contains_key(&claim.meta.name) {
        work.conditions.set_true(INSTANCE_TERMINATING);
    }
    if is_node_left(&mut work) || is_instance_left(&mut work) {
        return work.finish();
    }
    let finalizers = claim.finalizers.iter().filter(|own| *own != TERMINATION_FINALIZER);
    work.patch.finalizers = Some(finalizers.cloned().collect());
    work.finish()
}

/// The moment pods are no longer waited for is stored with the claim, where people and a new
/// process find it.
fn set_deadline(work: &mut Work<'_>) {
    let Some(deadline) = termination::deadline(work.claim) else { return };
    if !work.claim.annotations().contains_key(TERMINATION_TIMESTAMP) {
        let text = rfc3339(deadline);
        work.patch.annotations.insert(TERMINATION_TIMESTAMP.to_owned(), text);
    }
    let about = Key::Claim(work.claim.meta.name.clone());
    work.decision.record(termination::deadline_event(about, deadline));
}

/// Asks for the deletion of the claim's nodes, and notes how far that has come. A node that never
/// joined is not Kerf's to delete.
fn is_node_left(work: &mut Work<'_>) -> bool {
    let Some(provider_id) = &work.claim.status.provider_id else { return false };
    let world = work.world;
    let has_joined = work.conditions.is_true(REGISTERED);
    let nodes: Vec<&Node> = world
        .nodes_on_instance(provider_id)
        .filter(|node| has_joined || termination::has_finalizer(node))
        .collect();
    for node in nodes.iter().filter(|node| !node.meta.is_deleting()) {
        let kind =
            ActionKind::DeleteNode { name: node.meta.name.clone(), uid: node.meta.uid.clone() };
        work.decision.act(kind, Reason::ClaimDeleting);
    }
    let Work { conditions, decision, claim, now, .. } = work;
    termination::note_progress(world, &nodes, claim, *now, conditions, decision);
    !nodes.is_empty()
}

/// Asks for the end of the instance until the cloud says it is gone.
fn is_instance_left(work: &mut Work<'_>) -> bool {
    let (memory, claim) = (&work.world.memory, work.claim);
    let launched = memory.launched.get(&claim.meta.uid).map(|instance| &instance.provider_id);
    let provider_id = claim.status.provider_id.as_ref().or(launched).cloned();
    if provider_id.is_none() && was_never_launched(work.world, claim) {
        return false;
    }
    let name = &claim.meta.name;
    !termination::terminate_instance(work.world, name, provider_id, work.now, &mut work.decision)
}

/// A cloud that said no launched nothing. Without such an answer there may be an instance nobody
/// heard of.
fn was_never_launched(world: &World, claim: &Claim) -> bool {
    matches!(
        world.memory.launch_failures.get(&claim.meta.name),
        Some(Failure::InsufficientCapacity { .. } | Failure::NodeClassNotReady { .. })
    )
}
