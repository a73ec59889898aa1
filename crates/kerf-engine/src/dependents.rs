//! Which subjects to plan again when something changes; for an object, see
//! [`ObservedKind::dependents`](crate::observed::ObservedKind::dependents).

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;

use crate::action::Subject;
use crate::event::Instance;
use crate::memory::{InstanceList, ResolvedClass, Update};
use crate::observed::{Claim, Node};
use crate::planners;
use crate::provider::DriftRule;
use crate::world::World;

/// The subjects to look at when Kerf remembers something new.
pub(crate) fn dependents_of_update(world: &World, update: &Update) -> Vec<Subject> {
    match update {
        Update::Create(claim) => vec![Subject::Claim(Arc::from(claim.spec.name.as_str()))],
        Update::Launched { .. } | Update::Created(_) => Vec::new(),
        Update::LaunchFailed { claim, .. }
        | Update::PodEvent { claim, .. }
        | Update::Reboot { claim, .. } => {
            vec![Subject::Claim(claim.clone())]
        }
        Update::Interrupted { claim: name, .. }
        | Update::Surplus(name)
        | Update::NotSurplus(name) => {
            let claim = world.claims.get(name).into_iter();
            let nodes = claim.flat_map(|claim| nodes_of(world, claim));
            [Subject::Claim(name.clone())].into_iter().chain(nodes).collect()
        }
        Update::StartDrain { node, .. } | Update::DrainClosed { node, .. } => {
            vec![Subject::Node(node.clone())]
        }
        // Who waits for it is a notice, and what is left to do about the node.
        Update::Drained { node, .. } => vec![Subject::Notices, Subject::Node(node.clone())],
        Update::ForgetDrain(_) => vec![Subject::Notices],
        Update::Registration { pool: uid, .. } => {
            let pools = world.pools.values().filter(|pool| pool.meta.uid == *uid);
            pools.map(|pool| Subject::Pool(pool.meta.name.clone())).collect()
        }
        Update::Instances(list) => {
            let silent = |node: &&Node| node.meta.is_deleting() && !node.is_ready;
            let nodes = world.departing_nodes().filter(silent);
            let nodes = nodes.map(|node| Subject::Node(node.meta.name.clone()));
            let nodes = nodes.chain(waiting_for_hooks(world)).chain(without_instance(world, list));
            nodes.chain(described_otherwise(world, list)).chain(reserved(world)).collect()
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
        Update::NodeClassResolved { class, resolved } => {
            let own = [Subject::NodeClass(class.clone())];
            own.into_iter().chain(made_otherwise(world, class, resolved)).collect()
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

/// Claims whose instance is not in the cloud's list.
fn without_instance<'w>(
    world: &'w World,
    list: &'w InstanceList,
) -> impl Iterator<Item = Subject> + use<'w> {
    let is_missed = |claim: &&Arc<Claim>| {
        let id = claim.status.provider_id.as_ref();
        id.is_some_and(|id| !list.instances.contains_key(id))
    };
    let missed = world.claims.values().filter(is_missed);
    missed.map(|claim| Subject::Claim(claim.meta.name.clone()))
}

/// Claims that wait for something the provider learns of their instances later.
fn waiting_for_hooks(world: &World) -> impl Iterator<Item = Subject> {
    let hooks = &world.settings.provider.registration_hooks;
    let claims = if hooks.is_empty() { None } else { Some(world.claims.values()) };
    let waits = |claim: &&Arc<Claim>| hooks.iter().any(|it| claim.label(&it.label) == Some(""));
    let waiting = claims.into_iter().flatten().filter(waits);
    waiting.map(|claim| Subject::Claim(claim.meta.name.clone()))
}

/// The claims whose instances are made of something else than was known of them.
fn described_otherwise<'w>(
    world: &'w World,
    list: &'w InstanceList,
) -> impl Iterator<Item = Subject> + use<'w> {
    let known = world.memory.instances.as_ref().map(|known| &known.instances);
    let is_new = move |instance: &&Arc<Instance>| {
        let known = known.and_then(|known| known.get(&instance.provider_id));
        !instance.made_of.is_empty() && known.is_none_or(|known| known.made_of != instance.made_of)
    };
    let new = list.instances.values().filter(is_new);
    let claims = new.filter_map(|instance| world.claim_of_instance(&instance.provider_id));
    claims.map(|claim| Subject::Claim(claim.meta.name.clone()))
}

/// Claims whose instances may have left their reservation.
fn reserved(world: &World) -> impl Iterator<Item = Subject> {
    let has_any = world.settings.provider.reservation_labels.is_some();
    let claims = if has_any { Some(world.claims.values()) } else { None };
    let reserved = claims.into_iter().flatten().filter(|claim| planners::is_reserved(claim));
    reserved.map(|claim| Subject::Claim(claim.meta.name.clone()))
}

/// The claims of a node class, if it asks for something else than before.
fn made_otherwise<'w>(
    world: &'w World,
    class: &'w NodeClassRef,
    resolved: &ResolvedClass,
) -> impl Iterator<Item = Subject> + use<'w> {
    fn rules(of: &ResolvedClass) -> Option<(&Vec<DriftRule>, &BTreeSet<String>)> {
        of.found.as_ref().map(|found| (&found.drift_rules, &found.ending_reservations))
    }
    let is_same = |known: &ResolvedClass| {
        (&known.uid, known.generation) == (&resolved.uid, resolved.generation)
            && rules(known) == rules(resolved)
    };
    let is_known = world.memory.node_classes.get(class).is_some_and(is_same);
    let claims = if is_known { None } else { Some(world.claims.values()) };
    let own = claims.into_iter().flatten().filter(|it| it.spec.node.node_class == *class);
    own.map(|claim| Subject::Claim(claim.meta.name.clone()))
}

/// A node, its claim, and the cloud's instances if those tell what became of the node.
pub(crate) fn of_node(world: &World, node: &Node) -> Vec<Subject> {
    let claim = world.claim_of(node).map(|claim| Subject::Claim(claim.meta.name.clone()));
    // Whether the instance of a silent node is gone is asked of the cloud.
    let is_silent = node.meta.is_deleting() && !node.is_ready;
    let instances = is_silent.then_some(Subject::Instances);
    [Subject::Node(node.meta.name.clone())].into_iter().chain(claim).chain(instances).collect()
}

/// The pool and the nodes of a claim, and its class if that waits for the end of its claims.
pub(crate) fn of_claim(world: &World, claim: &Claim) -> Vec<Subject> {
    let pool = claim.pool().map(|pool| Subject::Pool(Arc::from(pool)));
    let key = &claim.spec.node.node_class;
    let class = world.node_classes.get(key).filter(|class| class.meta.is_deleting());
    let class = class.map(|_| Subject::NodeClass(key.clone()));
    pool.into_iter().chain(class).chain(nodes_of(world, claim)).collect()
}

/// More than one node may say it runs on a claim's instance; a fault, but all of them must go.
fn nodes_of(world: &World, claim: &Claim) -> Vec<Subject> {
    let Some(provider_id) = &claim.status.provider_id else { return Vec::new() };
    let nodes = world.nodes_on_instance(provider_id);
    nodes.map(|node| Subject::Node(node.meta.name.clone())).collect()
}
