//! How far the end of a claim's nodes has come, in the claim's conditions.

use super::{deadline, own_drain, volumes};
use crate::condition::claim::{DRAINED, VOLUMES_DETACHED};
use crate::condition::{Draft, Status};
use crate::decision::Decision;
use crate::observed::{Claim, Node};
use crate::planners::drain::{self, DRAIN_MIN, NodeDrain};
use crate::time::Time;
use crate::world::World;

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
    let waiting: Vec<_> = (drains.iter()).flat_map(|own| drain::waiting(world, own, now)).collect();
    for at in waiting.iter().filter_map(|pod| drain::given_up_at(pod)) {
        decision.wake(at);
    }
    match since {
        Some(since) if waiting.is_empty() && now >= since + DRAIN_MIN => {
            conditions.set_true(DRAINED);
            return true;
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
    if drains.iter().all(|drain| volumes::pending(world, drain).is_empty()) {
        conditions.set_true(VOLUMES_DETACHED);
        return;
    }
    let deadline = deadline(claim);
    if deadline.is_some_and(|deadline| now >= deadline) {
        let message = "the termination grace period is over; volumes are not waited for";
        conditions.set_false(VOLUMES_DETACHED, "TerminationGracePeriodElapsed", message);
        return;
    }
    if let Some(deadline) = deadline {
        decision.wake(deadline);
    }
    let message = "volumes are still attached to the node";
    conditions.set_unknown(VOLUMES_DETACHED, "AwaitingVolumeDetachment", message);
}
