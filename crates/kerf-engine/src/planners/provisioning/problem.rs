//! The world as a placement problem.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::node::{BoundPod, Node as NodeView};
use kerf_model::pod::PodShape;
use kerf_scheduler::{PlacementProblem, PoolWithTypes};

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
    let held = nomination::held(world, pods, &expected);
    let mut nodes: Vec<Arc<NodeView>> = Vec::with_capacity(world.nodes.len());
    for entry in world.node_entries() {
        if let Some(view) = &entry.view
            && !world.is_entry_leaving(&entry)
        {
            nodes
                .push(with_nominated(view, meant_for(entry.nomination_target(), &expected, &held)));
        }
    }
    let mut arrivals = Arrivals::new(world);
    for claim in Arrivals::stored(world) {
        let pods = meant_for(&claim.meta.name, &expected, &held);
        nodes.push(Arc::new(arrivals.of_claim(claim, pods)));
    }
    for (name, claim) in Arrivals::decided(world) {
        nodes.push(Arc::new(arrivals.of_decision(claim, meant_for(name, &expected, &held))));
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
fn with_nominated(view: &Arc<NodeView>, nominated: Vec<BoundPod>) -> Arc<NodeView> {
    let mut view = view.clone();
    if !nominated.is_empty() {
        Arc::make_mut(&mut view).pods.extend(nominated);
    }
    view
}

/// The pods expected on a claim or node, by name or because capacity is held for them.
fn meant_for(
    target: &str,
    expected: &BTreeMap<&str, Vec<&Pod>>,
    held: &BTreeMap<&str, Vec<BoundPod>>,
) -> Vec<BoundPod> {
    let pods = expected.get(target).into_iter().flatten().map(|pod| bound_pod(pod));
    pods.chain(held.get(target).into_iter().flatten().cloned()).collect()
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
