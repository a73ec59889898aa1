//! How far the end of a claim's nodes has come, in the claim's conditions.

use std::collections::BTreeSet;

use super::{deadline, own_drain};
use crate::condition::claim::{DRAINED, VOLUMES_DETACHED};
use crate::condition::{Draft, Status};
use crate::decision::Decision;
use crate::event::{Key, Kind};
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{Claim, Node, VolumeAttachment};
use crate::planners::drain::{self, DRAIN_MIN, NodeDrain, is_waited_for};
use crate::time::Time;
use crate::world::World;

/// Names shown in an Event at most.
const NAMES_MAX: usize = 5;

/// Notes in a claim's conditions how far the end of its node has come.
pub(in crate::planners) fn note_progress(
    world: &World,
    nodes: &[&Node],
    claim: &Claim,
    now: Time,
    conditions: &mut Draft<'_>,
    decision: &mut Decision,
) {
    let drains: Vec<_> = nodes.iter().map(|node| own_drain(world, node)).collect();
    let is_begun = |drain: &NodeDrain<'_>| drain.node.meta.is_deleting() && drain.is_closed();
    if drains.is_empty() || !drains.iter().all(is_begun) {
        return;
    }
    if note_drain(world, &drains, now, conditions, decision) {
        note_volumes(world, &drains, claim, now, conditions, decision);
    }
}

fn note_drain(
    world: &World,
    drains: &[NodeDrain<'_>],
    now: Time,
    conditions: &mut Draft<'_>,
    decision: &mut Decision,
) -> bool {
    if conditions.is_true(DRAINED) {
        return true;
    }
    let since = conditions.get(DRAINED).map(|condition| condition.changed_at);
    let clock = &world.memory.clock;
    let believed = clock.believed(now);
    let waiting: Vec<_> =
        (drains.iter()).flat_map(|own| drain::waiting(world, own, believed)).collect();
    for at in waiting.iter().filter_map(|pod| drain::given_up_at(pod)) {
        decision.wake(clock.believed_at(at, now));
    }
    match since {
        // Pods that came unheard are not seen to have left.
        Some(_) if !world.is_fresh(&[Kind::Node, Kind::Pod], now) => {}
        Some(since) if waiting.is_empty() && now >= since + DRAIN_MIN => {
            let unconfirmed: Vec<_> = (drains.iter())
                .filter(|own| !drain::is_confirmed(world, own.node, now, decision))
                .collect();
            if unconfirmed.is_empty() {
                conditions.set_true(DRAINED);
                return true;
            }
        }
        Some(since) if waiting.is_empty() => decision.wake(since + DRAIN_MIN),
        Some(_) => {}
        None => {
            conditions.set_unknown(DRAINED, "Draining", "the node's pods are asked to leave");
        }
    }
    false
}

fn note_volumes(
    world: &World,
    drains: &[NodeDrain<'_>],
    claim: &Claim,
    now: Time,
    conditions: &mut Draft<'_>,
    decision: &mut Decision,
) {
    let known = conditions.get(VOLUMES_DETACHED).map(|condition| condition.status);
    if matches!(known, Some(Status::True | Status::False)) {
        return;
    }
    let clock = &world.memory.clock;
    let believed = clock.believed(now);
    let is_fresh = world.is_fresh(&[Kind::Pod, Kind::VolumeAttachment], now);
    let is_over = |drain| attached_volumes(world, drain, believed).is_empty();
    if is_fresh && drains.iter().all(is_over) {
        conditions.set_true(VOLUMES_DETACHED);
        return;
    }
    let pods = drains.iter().flat_map(|drain| world.pods_on(&drain.node.meta.name));
    let given_up = pods.filter_map(drain::given_up_at).filter(|at| *at > believed);
    given_up.for_each(|at| decision.wake(clock.believed_at(at, now)));
    let deadline = deadline(claim);
    if deadline.is_some_and(|deadline| believed >= deadline) {
        let message = "the termination grace period is over; volumes are not waited for";
        conditions.set_false(VOLUMES_DETACHED, "TerminationGracePeriodElapsed", message);
        return;
    }
    if let Some(deadline) = deadline {
        decision.wake(clock.believed_at(deadline, now));
    }
    let message = "volumes are still attached to the node";
    conditions.set_unknown(VOLUMES_DETACHED, "AwaitingVolumeDetachment", message);
}

/// The volumes whose detachment is waited for. Those of pods that nobody waits for are not, be it
/// that they stay to the end or that they are stuck: their kubelet, which would unmount them, is
/// most often dead. Nor are those that no claim of the cluster names.
pub(super) fn attached_volumes<'a>(
    world: &'a World,
    drain: &NodeDrain<'_>,
    now: Time,
) -> Vec<&'a VolumeAttachment> {
    let node = &drain.node.meta.name;
    let stays = world.pods_on(node).filter(|pod| !is_waited_for(pod, drain, now));
    let kept: BTreeSet<&str> = stays
        .flat_map(|pod| pod.shape.volumes.iter().map(|volume| volume.claim.as_str()))
        .collect();
    let attached = world.attachments_on(node);
    attached
        .filter(|volume| volume.volume_claim.as_deref().is_some_and(|claim| !kept.contains(claim)))
        .collect()
}

/// The Event that says which volumes are waited for.
pub(super) fn awaiting_volumes(node: &Node, volumes: &[&VolumeAttachment]) -> KubernetesEvent {
    let names = volumes.iter().take(NAMES_MAX).map(|volume| &*volume.meta.name);
    let mut text = names.collect::<Vec<_>>().join(", ");
    if volumes.len() > NAMES_MAX {
        text.push_str(&format!(" and {} more", volumes.len() - NAMES_MAX));
    }
    let about = Key::Node(node.meta.name.clone());
    let text = format!("Awaiting deletion of volume attachments: {text}");
    KubernetesEvent::normal(about, "AwaitingVolumeDetachment", text)
}
