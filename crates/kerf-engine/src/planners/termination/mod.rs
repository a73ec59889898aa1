//! Nodes that are taken away: closed, drained, detached, ended.
//!
//! ```text
//!  node deleting ─► claim deleting ─► taint ─► drain ─► volumes ─► instance gone ─► finalizer gone
//!                                               │
//!                                     pods, tier by tier: evict, or delete when time is up
//! ```
//!
//! The node's planner acts; how far it has come is written into the claim's conditions by the
//! claim's planner ([`note_progress`]) and waited for here.

mod conclusion;
mod deadline;
mod drain;
mod eviction;
mod instance;
mod messages;
mod progress;
mod timestamp;
mod volumes;

pub(super) use conclusion::conclude;
pub(super) use deadline::{deadline, deadline_news};
pub(super) use instance::terminate_instance;
pub(super) use progress::note_progress;
pub(crate) use timestamp::rfc3339;

use kerf_model::labels::node_class_key;
use kerf_model::labels::well_known::{
    EXCLUDE_FROM_LOAD_BALANCERS, EXCLUDE_FROM_LOAD_BALANCERS_VALUE, TERMINATION_FINALIZER,
};
use kerf_model::taint::disrupted;

use super::claims;
use crate::action::{ActionKind, FinalizerChange, NodePatch};
use crate::condition::Status;
use crate::condition::claim::{DRAINED, VOLUMES_DETACHED};
use crate::decision::Decision;
use crate::event::Key;
use crate::observed::{Claim, Name, Node, PodKey};
use crate::reason::Reason;
use crate::time::Time;
use crate::world::World;

/// What a node needs now.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let Some(node) = world.nodes.get(name) else { return Decision::default() };
    if !node.meta.is_deleting() {
        return claims::tend_node(world, node);
    }
    if is_guarded(node) && is_managed(world, node) {
        return take_away(world, node, now);
    }
    Decision::default()
}

/// What a pod on a node that is taken away needs now.
pub(super) fn plan_pod(world: &World, key: &PodKey, now: Time) -> Decision {
    let mut decision = Decision::default();
    let Some(pod) = world.pods.get(key) else { return decision };
    let Some(node) = pod.node().and_then(|node| world.nodes.get(node)) else { return decision };
    if node.meta.is_deleting() && is_closed(node) && is_managed(world, node) {
        let tier = drain::active_tier(world, node, now);
        eviction::advance(world, node, pod, tier, now, &mut decision);
    }
    decision
}

fn take_away(world: &World, node: &Node, now: Time) -> Decision {
    let mut decision = Decision::default();
    let claim = world.claim_of(node);
    if let Some(claim) = claim
        && !claim.meta.is_deleting()
    {
        let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
        decision.act(ActionKind::DeleteClaim { name, uid }, Reason::NodeDeleting);
    }
    if !node.is_ready && instance::is_unlisted(world, node) {
        release(node, Reason::InstanceGone, &mut decision);
        return decision;
    }
    if let Some(deadline) = claim.and_then(deadline) {
        decision.record(deadline_news(Key::Node(node.meta.name.clone()), deadline));
    }
    if let Some(patch) = closing_patch(node) {
        let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
        decision.act(ActionKind::PatchNode { name, uid, patch }, Reason::DrainStarting);
        return decision;
    }
    if is_empty(world, node, claim, now, &mut decision)
        && is_detached(world, node, claim, &mut decision)
        && is_ended(world, node, claim, now, &mut decision)
    {
        release(node, Reason::NodeDrained, &mut decision);
    }
    decision
}

fn is_empty(
    world: &World,
    node: &Node,
    claim: Option<&Claim>,
    now: Time,
    decision: &mut Decision,
) -> bool {
    let waiting = drain::waiting(world, node, now);
    if waiting.is_empty() {
        return claim.is_none_or(|claim| claim.status.conditions.is_true(DRAINED));
    }
    decision.record(messages::waiting(node, waiting.len()));
    let tier = drain::active_tier(world, node, now);
    for pod in waiting {
        eviction::advance(world, node, pod, tier, now, decision);
        if let Some(at) = drain::given_up_at(pod) {
            decision.wake(at);
        }
    }
    false
}

/// A claim keeps the record; a node without one is looked at as it is.
fn is_detached(world: &World, node: &Node, claim: Option<&Claim>, decision: &mut Decision) -> bool {
    let pending = volumes::pending(world, node);
    let is_over = match claim {
        None => pending.is_empty(),
        Some(claim) => {
            let known = claim.status.conditions.get(VOLUMES_DETACHED);
            known.is_some_and(|known| known.status != Status::Unknown)
        }
    };
    if !is_over && !pending.is_empty() {
        decision.record(messages::awaiting_volumes(node, &pending));
    }
    is_over
}

fn is_ended(
    world: &World,
    node: &Node,
    claim: Option<&Claim>,
    now: Time,
    decision: &mut Decision,
) -> bool {
    let name = claim.map_or(&node.meta.name, |claim| &claim.meta.name);
    let Some(provider_id) = &node.provider_id else { return true };
    terminate_instance(world, name, Some(provider_id.clone()), now, decision)
}

/// The taint and the label that keep pods and load balancers away, if they are not there.
fn closing_patch(node: &Node) -> Option<NodePatch> {
    let mut patch = NodePatch::default();
    if !is_closed(node) {
        patch.taints_added.push(disrupted());
    }
    let excluded = node.labels.get(EXCLUDE_FROM_LOAD_BALANCERS).map(String::as_str);
    if excluded != Some(EXCLUDE_FROM_LOAD_BALANCERS_VALUE) {
        let value = EXCLUDE_FROM_LOAD_BALANCERS_VALUE.to_owned();
        patch.labels.insert(EXCLUDE_FROM_LOAD_BALANCERS.to_owned(), value);
    }
    (patch != NodePatch::default()).then_some(patch)
}

fn release(node: &Node, reason: Reason, decision: &mut Decision) {
    let patch = NodePatch { finalizer: FinalizerChange::Remove, ..NodePatch::default() };
    let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
    decision.act(ActionKind::PatchNode { name, uid, patch }, reason);
}

/// Whether nothing of a node can be forgotten: Kerf's finalizer is stored.
pub(super) fn is_guarded(node: &Node) -> bool {
    node.finalizers.iter().any(|finalizer| finalizer == TERMINATION_FINALIZER)
}

fn is_closed(node: &Node) -> bool {
    node.taints.contains(&disrupted())
}

/// A node is Kerf's when it carries the label of a supported node class.
fn is_managed(world: &World, node: &Node) -> bool {
    let mut kinds = world.settings.node_class_kinds.iter();
    kinds.any(|(group, kind)| node.labels.contains_key(&node_class_key(group, kind)))
}
