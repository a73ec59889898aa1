//! Draining a node: closed to new pods, emptied tier by tier, reported.
//!
//! ```text
//!  requested ─► closed (cordon or taint) ─► pods, tier by tier: evict, or delete by the deadline
//!                                                                └─► drained, reason by reason
//! ```
//!
//! Needs nodes and pods and nothing else: no claim, no finalizer, no CRD. Who wants a node drained
//! asks with [`Update::StartDrain`]; a managed node whose deletion was asked for is drained too
//! ([`termination::drain_request`](super::termination::drain_request)), which needs no update
//! because it follows from what is stored.

mod confirmation;
mod eviction;
mod messages;
mod node_drain;
mod pods;

pub(super) use confirmation::{confirmed, is_confirmed, on_pod_change};
pub(super) use eviction::conclude;
pub(super) use node_drain::NodeDrain;
pub(super) use pods::{given_up_at, is_waited_for, waiting};

use kerf_model::taint::Taint;

use crate::action::{Action, ActionClass, ActionKind, CordonChange, NodePatch};
use crate::decision::Decision;
use crate::event::{Key, Kind};
use crate::memory::{Closing, Drain, DrainReason, DrainRequest, Update};
use crate::observed::{Name, Node, PodKey};
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// A drain takes at least so long, so that pods bound in the last moment are seen.
pub(super) const DRAIN_MIN: Span = Span::from_seconds(5);

/// What a node that is drained needs now, by the latest time that can be believed.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let clock = &world.memory.clock;
    // Pods that came unheard are not seen to have left.
    let is_fresh = world.is_fresh(&[Kind::Node, Kind::Pod], now);
    let mut decision = plan_at(world, name, clock.believed(now), is_fresh);
    decision.wake_at = decision.wake_at.map(|at| clock.believed_at(at, now));
    decision
}

fn plan_at(world: &World, name: &Name, now: Time, is_fresh: bool) -> Decision {
    let mut decision = Decision::default();
    let Some(node) = world.nodes.get(name) else { return decision };
    let Some(drain) = NodeDrain::of(world, node) else {
        mark_drained(world, node, &mut decision);
        return decision;
    };
    if let Some(patch) = closing_patch(&drain) {
        let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
        decision.act(ActionKind::PatchNode { name, uid, patch }, Reason::DrainStarting);
        return decision;
    }
    match evict_at(world, &drain) {
        Some(at) if now >= at => evict(world, &drain, now, &mut decision),
        Some(at) => decision.wake(at),
        None => {}
    }
    report(world, &drain, now, is_fresh, &mut decision);
    decision
}

/// What a pod on a node that is drained needs now, by the latest time that can be believed.
pub(super) fn plan_pod(world: &World, key: &PodKey, now: Time) -> Decision {
    let clock = &world.memory.clock;
    let mut decision = plan_pod_at(world, key, clock.believed(now));
    decision.wake_at = decision.wake_at.map(|at| clock.believed_at(at, now));
    decision
}

fn plan_pod_at(world: &World, key: &PodKey, now: Time) -> Decision {
    let mut decision = Decision::default();
    let Some(pod) = world.pods.get(key) else { return decision };
    let Some(node) = pod.node().and_then(|node| world.nodes.get(node)) else { return decision };
    if let Some(drain) = NodeDrain::of(world, node).filter(NodeDrain::is_closed)
        && evict_at(world, &drain).is_some_and(|at| now >= at)
    {
        let tier = pods::active_tier(world, &drain, now);
        eviction::advance(&drain, pod, tier, now, &mut decision);
    }
    decision
}

/// What to remember when a node is about to become this: one made anew is not drained.
pub(super) fn on_node_change(world: &World, node: &Node) -> Decision {
    let drain = world.memory.drains.get(&node.meta.name);
    forget(&node.meta.name, drain.is_some_and(|drain| drain.uid != node.meta.uid))
}

/// What to remember when an object is about to be gone.
pub(super) fn on_delete(world: &World, key: &Key) -> Decision {
    match key {
        Key::Node(name) => {
            let mut decision = forget(name, world.memory.drains.contains_key(name));
            if world.memory.confirmations.contains_key(name) {
                decision.remember(Update::Unconfirmed(name.clone()));
            }
            decision
        }
        _ => Decision::default(),
    }
}

/// Puts what is done about nodes that will be gone first before everything else, and before that
/// what closes nodes. Where writes wait for each other, or pods share a PodDisruptionBudget, these
/// have no time to lose.
pub(crate) fn sort_by_deadline(world: &World, actions: &mut [Action]) {
    actions.sort_by_cached_key(|action| {
        let deadline = deadline_of(world, &action.kind);
        (action.class != ActionClass::Closing, deadline.is_none(), deadline)
    });
}

fn deadline_of(world: &World, kind: &ActionKind) -> Option<Time> {
    let node = match kind {
        ActionKind::PatchNode { name, .. } => name,
        ActionKind::EvictPod { pod, .. } | ActionKind::DeletePod { pod, .. } => {
            world.pods.get(pod)?.node()?
        }
        _ => return None,
    };
    NodeDrain::of(world, world.nodes.get(node)?)?.deadline()
}

/// The taints and labels that keep new pods away, if they are not all there.
pub(super) fn closing_patch(drain: &NodeDrain<'_>) -> Option<NodePatch> {
    let mut patch = NodePatch::default();
    for request in drain.requests() {
        match &request.closing {
            closing if drain.node.taints.contains(&closing.taint()) => {}
            Closing::Cordon => patch.cordon = CordonChange::Cordon,
            Closing::Taint(taint) => patch.taints_added.push(taint.clone()),
        }
        for taint in &request.taints {
            let has = |taints: &[Taint]| taints.iter().any(|other| other.key == taint.key);
            if !has(&drain.node.taints) && !has(&patch.taints_added) {
                patch.taints_added.push(taint.clone());
            }
        }
        for (key, value) in &request.labels {
            if drain.node.labels.get(key) != Some(value) {
                patch.labels.insert(key.clone(), value.clone());
            }
        }
    }
    (patch != NodePatch::default()).then_some(patch)
}

/// Taints a node whose pods have left, where that is set: whoever waits for its kubelet to say that
/// volumes are free need not.
fn mark_drained(world: &World, node: &Node, decision: &mut Decision) {
    let Some(taint) = &world.settings.drain.taint_after else { return };
    let drain = world.memory.drains.get(&node.meta.name);
    let drain = drain.filter(|drain| drain.uid == node.meta.uid);
    let is_drained = drain.is_some_and(|drain| {
        let is_done = |request: &DrainRequest| {
            !request.cordons_only && node.taints.contains(&request.closing.taint())
        };
        drain.requests.values().any(is_done)
    });
    if is_drained && !node.taints.iter().any(|other| other.key == taint.key) {
        let patch = NodePatch { taints_added: vec![taint.clone()], ..NodePatch::default() };
        let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
        decision.act(ActionKind::PatchNode { name, uid, patch }, Reason::Drained);
    }
}

/// Whether a node is as a reason for its drain wants it, with none of its pods left on it.
pub(super) fn lacks_nothing(world: &World, node: &Node, request: &DrainRequest) -> bool {
    let drain = NodeDrain::only(node, DrainReason::Termination, request.clone());
    let mut pods = world.pods_on(&node.meta.name);
    closing_patch(&drain).is_none() && !pods.any(|pod| pods::must_leave(pod, request))
}

/// From when on pods are evicted: once the node has been closed for as long as is set, and in any
/// case while half the time to its end is left. Unknown until it was seen closed.
fn evict_at(world: &World, drain: &NodeDrain<'_>) -> Option<Time> {
    let delay = world.settings.drain.evict_after;
    if delay == Span::default() {
        return Some(Time::default());
    }
    let asked = world.memory.drains.get(&drain.node.meta.name)?;
    let closed_at = asked.closed_at?;
    let half = |deadline: Time| Span::from_millis(deadline.since(closed_at).millis() / 2);
    Some(closed_at + drain.deadline().map_or(delay, |deadline| delay.min(half(deadline))))
}

fn evict(world: &World, drain: &NodeDrain<'_>, now: Time, decision: &mut Decision) {
    let waiting = pods::waiting(world, drain, now);
    if waiting.is_empty() {
        return;
    }
    decision.record(messages::waiting(drain.node, waiting.len()));
    let tier = pods::active_tier(world, drain, now);
    for pod in waiting {
        eviction::advance(drain, pod, tier, now, decision);
        if let Some(at) = pods::given_up_at(pod) {
            decision.wake(at);
        }
    }
}

/// Notes for each reason that was asked for whether its pods have left. Who asked by deleting the
/// node sees it there.
fn report(
    world: &World,
    drain: &NodeDrain<'_>,
    now: Time,
    is_fresh: bool,
    decision: &mut Decision,
) {
    let name = &drain.node.meta.name;
    let Some(asked) = world.memory.drains.get(name) else { return };
    let Some(closed_at) = asked.closed_at else {
        return decision.remember(Update::DrainClosed { node: name.clone(), at: now });
    };
    let cordoned = unfinished(asked).filter(|(_, request)| request.cordons_only);
    for (reason, _) in cordoned {
        decision.remember(Update::Drained { node: name.clone(), reason: *reason, at: now });
    }
    if now < closed_at + DRAIN_MIN {
        return decision.wake(closed_at + DRAIN_MIN);
    }
    if !is_fresh {
        return;
    }
    let waiting = pods::waiting(world, drain, now);
    for (reason, request) in unfinished(asked).filter(|(_, request)| !request.cordons_only) {
        if !waiting.iter().any(|pod| pods::must_leave(pod, request))
            && is_confirmed(world, drain.node, now, decision)
        {
            decision.remember(Update::Drained { node: name.clone(), reason: *reason, at: now });
        }
    }
}

fn unfinished(asked: &Drain) -> impl Iterator<Item = (&DrainReason, &DrainRequest)> {
    asked.requests.iter().filter(|(_, request)| request.drained_at.is_none())
}

fn forget(node: &Name, is_known: bool) -> Decision {
    let mut decision = Decision::default();
    if is_known {
        decision.remember(Update::ForgetDrain(node.clone()));
    }
    decision
}
