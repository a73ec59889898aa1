//! Nodes whose deletion was asked for: drained, detached, their instance terminated, let go.
//!
//! ```text
//!  node deleting ─► claim deleting ─► drain ─► volumes ─► instance gone ─► finalizer gone
//! ```
//!
//! The drain itself is [another planner's](super::drain); this one asks for it and goes on when it
//! is over. How far it has come is written into the claim's conditions by the claim's planner
//! ([`note_progress`]) and waited for here.

mod instance;
mod progress;

pub(super) use instance::terminate_instance;
pub(super) use progress::note_progress;

use kerf_model::labels::annotation::TERMINATION_TIMESTAMP;
use kerf_model::labels::node_class_key;
use kerf_model::labels::well_known::{
    EXCLUDE_FROM_LOAD_BALANCERS, EXCLUDE_FROM_LOAD_BALANCERS_VALUE, TERMINATION_FINALIZER,
};
use kerf_model::taint::disrupted;

use super::drain::{self, NodeDrain};
use crate::action::{ActionKind, FinalizerChange, NodePatch};
use crate::condition::Status;
use crate::condition::claim::{DRAINED, VOLUMES_DETACHED};
use crate::decision::Decision;
use crate::event::{Key, Kind};
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::{Closing, DrainReason, DrainRequest};
use crate::observed::{Claim, Name, Node};
use crate::provider::NodeClassKind;
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::timestamp::{parse_rfc3339, rfc3339};
use crate::world::World;

/// The kinds whose absence ends a node.
const NODE_ENDS_BY: [Kind; 4] = [Kind::Claim, Kind::Node, Kind::VolumeAttachment, Kind::Pod];

/// What a node whose deletion was asked for needs now.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let mut decision = Decision::default();
    let Some(node) = world.nodes.get(name).filter(|node| is_terminating(world, node)) else {
        return decision;
    };
    let claim = world.claim_of(node);
    if let Some(claim) = claim
        && !claim.meta.is_deleting()
    {
        let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
        decision.act(ActionKind::DeleteClaim { name, uid }, Reason::NodeDeleting);
    }
    if instance::is_lost(world, node) && world.is_fresh(&[Kind::Node], now) {
        release(node, Reason::InstanceGone, &mut decision);
        return decision;
    }
    if let Some(deadline) = claim.and_then(deadline) {
        decision.record(deadline_event(Key::Node(node.meta.name.clone()), deadline));
    }
    let drain = own_drain(world, node);
    let believed = world.memory.clock.believed(now);
    // Pods and volumes that came unheard, or a claim, are not seen to be gone.
    let is_fresh = world.is_fresh(&NODE_ENDS_BY, now);
    if is_fresh
        && is_drained(world, &drain, claim, believed)
        && (claim.is_some() || drain::is_confirmed(world, node, now, &mut decision))
        && is_detached(world, &drain, claim, believed, &mut decision)
        && is_ended(world, node, claim, now, &mut decision)
    {
        release(node, Reason::NodeDrained, &mut decision);
    }
    decision
}

/// What the drain of a node whose deletion was asked for has to do; nothing where its instance is
/// gone already.
pub(super) fn drain_request(world: &World, node: &Node) -> Option<DrainRequest> {
    (is_terminating(world, node) && !instance::is_lost(world, node)).then(|| request(world, node))
}

/// What closes a node as its termination does, if it is one of ours and not closed yet.
pub(super) fn closing_patch(world: &World, node: &Node) -> Option<NodePatch> {
    let is_ours = has_finalizer(node) && is_managed(world, node);
    is_ours.then(|| drain::closing_patch(&own_drain(world, node))).flatten()
}

/// Until when a claim's pods are waited for: as its annotation says, or as its grace period does
/// once its deletion was asked for.
pub(super) fn deadline(claim: &Claim) -> Option<Time> {
    let written = claim.annotations().get(TERMINATION_TIMESTAMP);
    written.and_then(|text| parse_rfc3339(text)).or_else(|| {
        let grace = claim.spec.node.termination_grace?;
        Some(claim.meta.deleting_since? + Span::from(grace))
    })
}

/// The Event that announces the deadline.
pub(super) fn deadline_event(about: Key, deadline: Time) -> KubernetesEvent {
    let text = format!("All pods will be deleted by {}", rfc3339(deadline));
    KubernetesEvent::warning(about, "TerminationGracePeriodExpiring", text)
}

/// Whether Kerf's finalizer is stored: the node stays until it is removed.
pub(super) fn has_finalizer(node: &Node) -> bool {
    node.finalizers.iter().any(|finalizer| finalizer == TERMINATION_FINALIZER)
}

fn is_terminating(world: &World, node: &Node) -> bool {
    node.meta.is_deleting() && has_finalizer(node) && is_managed(world, node)
}

/// A node is Kerf's when it carries the label of a supported node class.
fn is_managed(world: &World, node: &Node) -> bool {
    let mut kinds = world.settings.provider.node_classes.iter();
    kinds.any(|NodeClassKind { group, kind, .. }| {
        node.labels.contains_key(&node_class_key(group, kind))
    })
}

/// The part of a node's drain that termination waits for, whoever else has the node drained.
fn own_drain<'a>(world: &World, node: &'a Node) -> NodeDrain<'a> {
    NodeDrain::only(node, DrainReason::Termination, request(world, node))
}

fn request(world: &World, node: &Node) -> DrainRequest {
    let value = EXCLUDE_FROM_LOAD_BALANCERS_VALUE.to_owned();
    DrainRequest {
        closing: Closing::Taint(disrupted()),
        labels: [(EXCLUDE_FROM_LOAD_BALANCERS.to_owned(), value)].into(),
        taints: Vec::new(),
        cordons_only: false,
        keeps: None,
        evicts_protected: false,
        deadline: world.claim_of(node).and_then(deadline),
        forces_pods: true,
        drained_at: None,
    }
}

/// A claim keeps the record; a node without one is looked at as it is.
fn is_drained(world: &World, drain: &NodeDrain<'_>, claim: Option<&Claim>, now: Time) -> bool {
    drain.is_closed()
        && drain::waiting(world, drain, now).is_empty()
        && claim.is_none_or(|claim| claim.status.conditions.is_true(DRAINED))
}

fn is_detached(
    world: &World,
    drain: &NodeDrain<'_>,
    claim: Option<&Claim>,
    now: Time,
    decision: &mut Decision,
) -> bool {
    let pending = progress::attached_volumes(world, drain, now);
    let is_over = match claim {
        None => pending.is_empty(),
        Some(claim) => {
            let known = claim.status.conditions.get(VOLUMES_DETACHED);
            known.is_some_and(|known| known.status != Status::Unknown)
        }
    };
    if !is_over && !pending.is_empty() {
        decision.record(progress::awaiting_volumes(drain.node, &pending));
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

fn release(node: &Node, reason: Reason, decision: &mut Decision) {
    let patch = NodePatch { finalizer: FinalizerChange::Remove, ..NodePatch::default() };
    let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
    decision.act(ActionKind::PatchNode { name, uid, patch }, reason);
}
