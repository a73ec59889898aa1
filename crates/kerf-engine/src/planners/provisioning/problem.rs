//! The world as a placement problem.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::node::{BoundPod, Node as NodeView};
use kerf_scheduler::{PlacementProblem, PoolWithTypes};
use rustc_hash::FxHashMap;

use super::held::held;
use super::nomination;
use super::pool_choice::{self, PoolChoice};
use crate::observed::{DaemonSet, Pod, PodKey};
use crate::time::Time;
use crate::world::World;
use crate::world::arrival::Arrivals;
use crate::world::node_entry::{NodeEntry, bound_pod};

/// The label every namespace carries: its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The problem where these pods should go.
pub(super) fn build(
    world: &World,
    pods: &[&Pod],
    pools: Vec<PoolWithTypes>,
    now: Time,
) -> PlacementProblem {
    let nodes = nodes(world, &meant(world, pods, now), |_| true);
    problem(world, pods, nodes, pools)
}

/// The problem where these pods, and those of some nodes, should go if those nodes were not there.
/// Nodes that are up come first; returns how many they are.
pub(in crate::planners) fn build_without(
    world: &World,
    (waiting, moving): (&[&Pod], &[&Pod]),
    gone: &BTreeSet<&str>,
    now: Time,
) -> (PlacementProblem, usize) {
    let meant = meant(world, waiting, now);
    let mut nodes = nodes(world, &meant, |entry| !gone.contains(&*entry.node.meta.name));
    // Stable: within the two parts the order stays.
    let is_coming = |node: &Arc<NodeView>| node.pool.is_some() && !node.initialized;
    nodes.sort_by_key(is_coming);
    let nodes_up = nodes.partition_point(|node| !is_coming(node));
    let pods: Vec<&Pod> = waiting.iter().chain(moving).copied().collect();
    let PoolChoice { pools, .. } = pool_choice::choose(world);
    (problem(world, &pods, nodes, pools), nodes_up)
}

/// Nodes that stay and fit, and those on their way, with the pods meant for them.
fn nodes(
    world: &World,
    meant: &FxHashMap<&str, Vec<BoundPod>>,
    fits: impl Fn(&NodeEntry) -> bool,
) -> Vec<Arc<NodeView>> {
    let mut nodes: Vec<Arc<NodeView>> = Vec::with_capacity(world.nodes.len());
    let leaving = world.leaving_nodes();
    for entry in world.node_entries() {
        let Some(view) = &entry.view else { continue };
        if !leaving.is_empty() && leaving.contains(&entry.node.meta.name) || !fits(&entry) {
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
    nodes
}

fn problem(
    world: &World,
    pods: &[&Pod],
    nodes: Vec<Arc<NodeView>>,
    pools: Vec<PoolWithTypes>,
) -> PlacementProblem {
    PlacementProblem {
        pods: pods.iter().map(|pod| pod.to_model()).collect(),
        daemons: daemons(world).map(|set| set.shape.clone()).collect(),
        daemon_names: daemons(world).map(|set| set.meta.name.clone()).collect(),
        nodes,
        pools,
        held: held(world),
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
pub(super) fn meant<'a>(
    world: &'a World,
    asked: &[&Pod],
    now: Time,
) -> FxHashMap<&'a str, Vec<BoundPod>> {
    let mut expected = nomination::nominated_pods(world, now);
    // Who is asked about is not expected anywhere.
    let keys: BTreeSet<&PodKey> = asked.iter().map(|pod| &pod.key).collect();
    expected.values_mut().for_each(|pods| pods.retain(|pod| !keys.contains(&pod.key)));
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

/// The daemon sets that count. Those that ask for devices through claims are not counted: such
/// claims are not served.
fn daemons(world: &World) -> impl Iterator<Item = &DaemonSet> {
    let sets = world.daemon_sets.values().filter(|set| !set.meta.is_deleting());
    sets.map(Arc::as_ref).filter(|set| !set.shape.has_resource_claims)
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
