//! The world as a placement problem.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::node::{BoundPod, Node as NodeView};
use kerf_model::pod::PodShape;
use kerf_scheduler::{PlacementProblem, PoolWithTypes};
use rustc_hash::FxHashMap;

use super::nomination;
use crate::observed::{Pod, PodKey};
use crate::time::Time;
use crate::world::World;
use crate::world::arrival::Arrivals;
use crate::world::node_entry::bound_pod;

/// The label every namespace carries: its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The problem where these pods should go.
pub(super) fn build(
    world: &World,
    pods: &[&Pod],
    pools: Vec<PoolWithTypes>,
    now: Time,
) -> PlacementProblem {
    let mut expected = nomination::nominated_pods(world, now);
    // Who is asked about is not expected anywhere.
    let asked: BTreeSet<&PodKey> = pods.iter().map(|pod| &pod.key).collect();
    expected.values_mut().for_each(|pods| pods.retain(|pod| !asked.contains(&pod.key)));
    let meant = meant(world, pods, expected);
    let mut nodes: Vec<Arc<NodeView>> = Vec::with_capacity(world.nodes.len());
    let leaving = world.leaving_nodes();
    for entry in world.node_entries() {
        let Some(view) = &entry.view else { continue };
        if !leaving.is_empty() && leaving.contains(&entry.node.meta.name) {
            continue;
        }
        let nominated = match meant.is_empty() {
            true => None,
            false => meant.get(&**entry.nomination_target()),
        };
        nodes.push(with_nominated(view, nominated));
    }
    let mut arrivals = Arrivals::new(world);
    for claim in Arrivals::stored(world) {
        let pods = meant.get(&*claim.meta.name).cloned().unwrap_or_default();
        nodes.push(Arc::new(arrivals.of_claim(claim, pods)));
    }
    for (name, claim) in Arrivals::decided(world) {
        let pods = meant.get(&**name).cloned().unwrap_or_default();
        nodes.push(Arc::new(arrivals.of_decision(claim, pods)));
    }
    PlacementProblem {
        pods: pods.iter().map(|pod| pod.to_model()).collect(),
        daemons: daemons(world),
        nodes,
        pools,
        namespaces: Arc::new(namespaces(world)),
        settings: world.settings.scheduler.clone(),
    }
}

/// A node with the pods nominated for it; the node itself where there are none.
fn with_nominated(view: &Arc<NodeView>, nominated: Option<&Vec<BoundPod>>) -> Arc<NodeView> {
    let mut view = view.clone();
    if let Some(nominated) = nominated {
        Arc::make_mut(&mut view).pods.extend(nominated.iter().cloned());
    }
    view
}

/// The pods expected on each claim or node, by name or because capacity is held for them; those
/// left out that nobody is expected on.
fn meant<'a>(
    world: &'a World,
    asked: &[&Pod],
    expected: BTreeMap<&'a str, Vec<&Pod>>,
) -> FxHashMap<&'a str, Vec<BoundPod>> {
    let held = nomination::held(world, asked, &expected);
    let mut meant: FxHashMap<&str, Vec<BoundPod>> = FxHashMap::default();
    for (target, pods) in expected.into_iter().filter(|(_, pods)| !pods.is_empty()) {
        meant.insert(target, pods.into_iter().map(bound_pod).collect());
    }
    for (target, pods) in held.into_iter().filter(|(_, pods)| !pods.is_empty()) {
        meant.entry(target).or_default().extend(pods);
    }
    meant
}

/// One shape for each daemon set. Those that ask for devices through claims are not counted: such
/// claims are not served.
fn daemons(world: &World) -> Vec<Arc<PodShape>> {
    let sets = world.daemon_sets.values().filter(|set| !set.meta.is_deleting());
    sets.map(|set| set.shape.clone()).filter(|shape| !shape.has_resource_claims).collect()
}

/// The labels of every namespace there is; the scheduler also learns the name as a label, which
/// the API server puts there by itself.
fn namespaces(world: &World) -> BTreeMap<String, BTreeMap<String, String>> {
    let labelled = |name: &str, labels: &BTreeMap<String, String>| {
        let mut labels = labels.clone();
        labels.entry(NAMESPACE_NAME.to_owned()).or_insert_with(|| name.to_owned());
        (name.to_owned(), labels)
    };
    world.namespaces.iter().map(|(name, it)| labelled(name, &it.labels)).collect()
}
