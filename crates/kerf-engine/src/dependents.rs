//! Which subjects to plan again when something changes; for an object, see
//! [`ObservedKind::dependents`](crate::observed::ObservedKind::dependents).

use std::sync::Arc;

use crate::action::Subject;
use crate::memory::Update;
use crate::observed::{Claim, Node};
use crate::world::World;

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
            let nodes = nodes.map(|node| Subject::Node(node.meta.name.clone()));
            nodes.chain(waiting_for_hooks(world)).collect()
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
        Update::Tagged(claim) => vec![Subject::Claim(claim.clone())],
        Update::NodeClassResolved { class, .. } => vec![Subject::NodeClass(class.clone())],
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
    let claims = world.claims.keys().chain(world.memory.creating.keys());
    let claims = claims.cloned().map(Subject::Claim);
    let nodes = world.nodes.keys().cloned().map(Subject::Node);
    let pools = world.pools.keys().cloned().map(Subject::Pool);
    let classes = world.node_classes.keys().cloned().map(Subject::NodeClass);
    let overlays = world.overlays.keys().cloned().map(Subject::Overlay);
    single
        .into_iter()
        .chain(claims)
        .chain(nodes)
        .chain(pools)
        .chain(classes)
        .chain(overlays)
        .collect()
}

/// Claims that wait for something the provider learns of their instances later.
fn waiting_for_hooks(world: &World) -> impl Iterator<Item = Subject> {
    let hooks = &world.settings.provider.registration_hooks;
    let claims = if hooks.is_empty() { None } else { Some(world.claims.values()) };
    let waits = |claim: &&Arc<Claim>| hooks.iter().any(|it| claim.label(&it.label) == Some(""));
    let waiting = claims.into_iter().flatten().filter(waits);
    waiting.map(|claim| Subject::Claim(claim.meta.name.clone()))
}

/// A node, its claim, and the cloud's instances if those tell what became of the node.
pub(crate) fn of_node(world: &World, node: &Node) -> Vec<Subject> {
    let claim = world.claim_of(node).map(|claim| Subject::Claim(claim.meta.name.clone()));
    // Whether the instance of a silent node is gone is asked of the cloud.
    let is_silent = node.meta.is_deleting() && !node.is_ready;
    let instances = is_silent.then_some(Subject::Instances);
    [Subject::Node(node.meta.name.clone())].into_iter().chain(claim).chain(instances).collect()
}

/// The pool and the nodes of a claim.
pub(crate) fn of_claim(world: &World, claim: &Claim) -> Vec<Subject> {
    let pool = claim.pool().map(|pool| Subject::Pool(Arc::from(pool)));
    pool.into_iter().chain(nodes_of(world, claim)).collect()
}

/// More than one node may say it runs on a claim's instance; a fault, but all of them must go.
fn nodes_of(world: &World, claim: &Claim) -> Vec<Subject> {
    let Some(provider_id) = &claim.status.provider_id else { return Vec::new() };
    let nodes = world.nodes_on_instance(provider_id);
    nodes.map(|node| Subject::Node(node.meta.name.clone())).collect()
}
