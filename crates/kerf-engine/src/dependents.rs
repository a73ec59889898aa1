//! Which subjects a piece of news concerns.

use std::sync::Arc;

use kerf_model::taint::DISRUPTED_KEY;

use crate::action::Subject;
use crate::event::Key;
use crate::memory::Update;
use crate::observed::{Claim, Node, PodPhase};
use crate::world::World;

/// The subjects to look at when an object changes. Asked before and after the change, because both
/// what it was and what it became may matter.
pub(crate) fn dependents(world: &World, key: &Key) -> Vec<Subject> {
    match key {
        Key::Pod(key) => {
            let Some(pod) = world.pods.get(key) else { return Vec::new() };
            match &pod.phase {
                PodPhase::Unschedulable { .. } => vec![Subject::Provisioning],
                PodPhase::Bound { node } | PodPhase::Ended { node: Some(node) } => {
                    let mut subjects = vec![Subject::Disruption, Subject::Pod(key.clone())];
                    subjects.extend(
                        world.nodes.get(node).into_iter().flat_map(|node| of_node(world, node)),
                    );
                    subjects
                }
                PodPhase::Unjudged | PodPhase::Waiting | PodPhase::Ended { node: None } => {
                    Vec::new()
                }
            }
        }
        Key::Node(name) => {
            let Some(node) = world.nodes.get(name) else { return Vec::new() };
            // Closing a node is a step of its removal, whoever waits for it.
            let is_closed = node.taints.iter().any(|taint| taint.key == DISRUPTED_KEY);
            let removal = is_closed.then_some(Subject::Disruption);
            of_node(world, node).into_iter().chain(removal).collect()
        }
        Key::Claim(name) => {
            let mut subjects = vec![Subject::Claim(name.clone()), Subject::Disruption];
            // A notice may wait for the claim's deletion.
            subjects.extend((!world.memory.notices.is_empty()).then_some(Subject::Notices));
            subjects.extend(
                world.claims.get(name).into_iter().flat_map(|claim| of_claim(world, claim)),
            );
            subjects
        }
        Key::Pool(name) => {
            let claims = world.claims_of(name).map(|claim| Subject::Claim(claim.meta.name.clone()));
            let own = [Subject::Pool(name.clone()), Subject::Provisioning, Subject::Disruption];
            own.into_iter().chain([Subject::ZonalShift]).chain(claims).collect()
        }
        Key::NodeClass(class) => {
            let users =
                world.pools.values().filter(|pool| pool.spec.template.spec.node_class == *class);
            let pools = users.map(|pool| Subject::Pool(pool.meta.name.clone()));
            pools.chain([Subject::Provisioning]).collect()
        }
        Key::PodDisruptionBudget(..) => vec![Subject::Disruption],
        Key::DaemonSet(..) | Key::Namespace(_) => Vec::new(),
        Key::VolumeAttachment(name) => {
            let node = world.attachments.get(name).and_then(|own| world.nodes.get(&own.node));
            node.map(|node| of_node(world, node)).unwrap_or_default()
        }
    }
}

/// The subject an object stands for by itself, if it is one.
pub(crate) fn subject_of(key: &Key) -> Option<Subject> {
    match key {
        Key::Pod(key) => Some(Subject::Pod(key.clone())),
        Key::Node(name) => Some(Subject::Node(name.clone())),
        Key::Claim(name) => Some(Subject::Claim(name.clone())),
        Key::Pool(name) => Some(Subject::Pool(name.clone())),
        _ => None,
    }
}

/// The subjects to look at when Kerf remembers something new.
pub(crate) fn dependents_of_update(world: &World, update: &Update) -> Vec<Subject> {
    match update {
        Update::Create(claim) => vec![Subject::Claim(Arc::from(claim.spec.name.as_str()))],
        Update::Launched { .. } | Update::Created(_) => Vec::new(),
        Update::LaunchFailed { claim, .. }
        | Update::PodEvent { claim, .. }
        | Update::Interrupted { claim, .. } => {
            vec![Subject::Claim(claim.clone())]
        }
        Update::StartDrain { node, .. } | Update::DrainClosed { node, .. } => {
            vec![Subject::Node(node.clone())]
        }
        // Who waits for it is a notice.
        Update::Drained { .. } | Update::ForgetDrain(_) => vec![Subject::Notices],
        Update::Registration { pool: uid, .. } => {
            let pools = world.pools.values().filter(|pool| pool.meta.uid == *uid);
            pools.map(|pool| Subject::Pool(pool.meta.name.clone())).collect()
        }
        Update::Instances(_) => {
            let silent = |node: &&Arc<Node>| node.meta.is_deleting() && !node.is_ready;
            let nodes = world.nodes.values().filter(silent);
            nodes.map(|node| Subject::Node(node.meta.name.clone())).collect()
        }
        Update::InstanceGone(claim) | Update::TerminateAsked { claim, .. } => {
            let mut subjects = vec![Subject::Claim(claim.clone())];
            match world.claims.get(claim) {
                Some(claim) => subjects.extend(nodes_of(world, claim)),
                // A node without a claim goes under its own name.
                None => subjects.push(Subject::Node(claim.clone())),
            }
            subjects
        }
        Update::ForgetClaim(_)
        | Update::Release(_)
        | Update::Call { .. }
        | Update::PassEnded
        | Update::PassFailed { .. } => vec![Subject::Provisioning],
        _ => Vec::new(),
    }
}

/// Every subject there is, for the first look.
pub(crate) fn everything(world: &World) -> Vec<Subject> {
    let single = [
        Subject::Provisioning,
        Subject::Disruption,
        Subject::Instances,
        Subject::ZonalShift,
        Subject::Notices,
    ];
    let claims = world.claims.keys().cloned().map(Subject::Claim);
    let nodes = world.nodes.keys().cloned().map(Subject::Node);
    let pools = world.pools.keys().cloned().map(Subject::Pool);
    single.into_iter().chain(claims).chain(nodes).chain(pools).collect()
}

fn of_node(world: &World, node: &Node) -> Vec<Subject> {
    let claim = world.claim_of(node).map(|claim| Subject::Claim(claim.meta.name.clone()));
    // Whether the instance of a silent node is gone is asked of the cloud.
    let is_silent = node.meta.is_deleting() && !node.is_ready;
    let instances = is_silent.then_some(Subject::Instances);
    [Subject::Node(node.meta.name.clone())].into_iter().chain(claim).chain(instances).collect()
}

fn of_claim(world: &World, claim: &Claim) -> Vec<Subject> {
    let pool = claim.pool().map(|pool| Subject::Pool(Arc::from(pool)));
    pool.into_iter().chain(nodes_of(world, claim)).collect()
}

/// More than one node may say it runs on a claim's instance; a fault, but all of them must go.
fn nodes_of(world: &World, claim: &Claim) -> Vec<Subject> {
    let Some(provider_id) = &claim.status.provider_id else { return Vec::new() };
    let nodes = world.nodes_on_instance(provider_id);
    nodes.map(|node| Subject::Node(node.meta.name.clone())).collect()
}
