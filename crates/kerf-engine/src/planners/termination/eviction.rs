//! One pod on a node that is taken away: asked to leave, waited for, or deleted when time is up.

use super::drain::{Tier, is_drainable, tier};
use super::{deadline, messages};
use crate::action::ActionKind;
use crate::decision::Decision;
use crate::observed::{DoNotDisrupt, Node, Pod};
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// The least the API server lets a pod have without dropping it unseen.
const GRACE_SECONDS_MIN: u64 = 1;

/// Decides what happens to one pod.
pub(super) fn advance(
    world: &World,
    node: &Node,
    pod: &Pod,
    active: Option<Tier>,
    now: Time,
    decision: &mut Decision,
) {
    if !is_drainable(pod) {
        return;
    }
    let deadline = world.claim_of(node).and_then(deadline::deadline);
    if let Some(deadline) = deadline {
        match force_at(pod, deadline, now) {
            Some(at) if now >= at => return force(pod, deadline, now, decision),
            Some(at) => decision.wake(at),
            None => {}
        }
    }
    if pod.meta.is_deleting() || active != Some(tier(pod)) {
        return;
    }
    decision.kubernetes_events.extend(messages::do_not_disrupt(pod, now));
    if pod.is_protected(now) {
        if let (DoNotDisrupt::For(span), Some(start)) = (pod.do_not_disrupt, pod.started_at) {
            decision.wake(start + span);
        }
        return;
    }
    let kind = ActionKind::EvictPod { pod: pod.key.clone(), uid: pod.meta.uid.clone() };
    decision.act(kind, Reason::Draining { node: node.meta.name.clone() });
}

/// When a pod must be deleted so that it is gone by the deadline; never, if it may take as long as
/// it likes, or if it will be gone in time anyway.
fn force_at(pod: &Pod, deadline: Time, now: Time) -> Option<Time> {
    match pod.meta.deleting_since {
        None => Some(deadline - pod.termination_grace?),
        Some(end) => {
            let least = Span::from_seconds(GRACE_SECONDS_MIN);
            (end > deadline && end > now + least).then_some(now)
        }
    }
}

fn force(pod: &Pod, deadline: Time, now: Time, decision: &mut Decision) {
    let grace_seconds = deadline.since(now).seconds().max(GRACE_SECONDS_MIN);
    let (key, uid) = (pod.key.clone(), pod.meta.uid.clone());
    let kind = ActionKind::DeletePod { pod: key, uid, grace_seconds };
    let asked_seconds = pod.termination_grace.map(Span::seconds);
    let reason = Reason::DrainDeadline { deadline, grace_seconds, asked_seconds };
    decision.act(kind, reason);
}
