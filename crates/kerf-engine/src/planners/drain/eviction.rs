//! One pod on a node that is drained: evicted, waited for, or deleted when time is up.

use std::sync::Arc;

use super::pods::{Tier, must_leave, tier};
use super::{NodeDrain, messages};
use crate::action::{Action, ActionKind};
use crate::condition::claim::DISRUPTION_REASON;
use crate::decision::Decision;
use crate::event::{Failure, Key, Outcome};
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{Claim, DoNotDisrupt, Node, Pod, PodKey};
use crate::reason::Reason;
use crate::sample::Sample;
use crate::time::{Span, Time};
use crate::world::World;

/// The least the API server lets a pod have without dropping it unseen.
const GRACE_SECONDS_MIN: u64 = 1;

/// The reason in metrics and Events where the claim gives none.
const FORCEFUL: &str = "Forceful Termination";

/// Decides what happens to one pod.
pub(super) fn advance(
    drain: &NodeDrain<'_>,
    pod: &Pod,
    active: Option<Tier>,
    now: Time,
    decision: &mut Decision,
) {
    let reasons: Vec<_> = drain.requests().filter(|request| must_leave(pod, request)).collect();
    if reasons.is_empty() {
        return;
    }
    let forcing = reasons.iter().filter(|request| request.forces_pods);
    if let Some(deadline) = forcing.filter_map(|request| request.deadline).min() {
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
    let counts_protection = !reasons.iter().any(|request| request.evicts_protected);
    if pod.is_protected(now) && counts_protection {
        if let (DoNotDisrupt::For(span), Some(start)) = (pod.do_not_disrupt, pod.started_at) {
            decision.wake(start + span);
        }
        return;
    }
    let kind = ActionKind::EvictPod { pod: pod.key.clone(), uid: pod.meta.uid.clone() };
    decision.act(kind, Reason::Draining { node: drain.node.meta.name.clone() });
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

/// What to make of a finished action about a pod.
pub(in crate::planners) fn conclude(
    world: &World,
    key: &PodKey,
    action: &Action,
    outcome: &Outcome,
) -> Decision {
    let mut decision = Decision::default();
    let pod = world.pods.get(key).map(Arc::as_ref);
    let node = pod.and_then(Pod::node).and_then(|node| world.nodes.get(node)).map(Arc::as_ref);
    let claim = node.and_then(|node| world.claim_of(node));
    match &action.kind {
        ActionKind::EvictPod { .. } => evicted(key, node, claim, outcome, &mut decision),
        // By now the pod may be gone; what was decided says it all.
        ActionKind::DeletePod { .. } if matches!(outcome, Outcome::Done) => {
            let text = format!("Deleting the pod: {}", action.reason);
            decision.record(KubernetesEvent::normal(Key::Pod(key.clone()), "Disrupted", text));
        }
        _ => {}
    }
    decision
}

fn evicted(
    key: &PodKey,
    node: Option<&Node>,
    claim: Option<&Claim>,
    outcome: &Outcome,
    decision: &mut Decision,
) {
    let code = match outcome {
        Outcome::Done | Outcome::Stored(_) => "200",
        Outcome::NotFound => "404",
        Outcome::Failed(Failure::Conflict) => "409",
        Outcome::Failed(Failure::Refused { .. } | Failure::Throttled { .. }) => "429",
        _ => "500",
    };
    let labels = vec![("code", code.to_owned())];
    decision.samples.push(Sample::one("karpenter_pods_eviction_requests_total", labels));
    match outcome {
        Outcome::Done => {
            let condition = claim.and_then(|claim| claim.status.conditions.get(DISRUPTION_REASON));
            let reason = condition.map_or(FORCEFUL, |condition| condition.reason.as_str());
            let labels = vec![("reason", reason.to_owned())];
            decision.samples.push(Sample::one("karpenter_pods_drained_total", labels));
            let text = format!("Evicted pod: {reason}");
            decision.record(KubernetesEvent::normal(Key::Pod(key.clone()), "Evicted", text));
        }
        Outcome::Failed(Failure::Refused { message }) => {
            if let Some(node) = node {
                let about = Key::Node(node.meta.name.clone());
                let text = format!("Failed to drain node, evicting pod {key}: {message}");
                decision.record(KubernetesEvent::warning(about, "FailedDraining", text));
            }
        }
        _ => {}
    }
}
