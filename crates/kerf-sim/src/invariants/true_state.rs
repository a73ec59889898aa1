//! The true state as a placement problem: what there is, whatever an engine believes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_engine::observed::{Name, Node, Pod, PodOwner};
use kerf_model::labels::{LabelRules, aws, kwok};
use kerf_model::node::{BoundPod, Node as ModelNode};
use kerf_model::pod::Pod as ModelPod;
use kerf_scheduler::{PlacementProblem, PoolWithTypes, SchedulerSettings};

use crate::cloud::Cloud;
use crate::controllers::Workloads;
use crate::scenario::WorkloadKind;
use crate::store::Store;

/// The placement problem of these pods among these nodes.
pub(crate) fn problem(
    pods: Vec<ModelPod>,
    nodes: Vec<Arc<ModelNode>>,
    store: &Store,
    cloud: &Cloud,
    workloads: &Workloads,
) -> PlacementProblem {
    let daemons = workloads.iter().filter(|it| it.workload.kind == WorkloadKind::DaemonSet);
    let label_rules =
        LabelRules::core().with(&aws::provider_labels()).with(&kwok::provider_labels());
    let settings = SchedulerSettings { label_rules, ..SchedulerSettings::default() };
    let namespaces: BTreeMap<_, _> = store
        .namespaces
        .values()
        .map(|namespace| (namespace.meta.name.to_string(), namespace.labels.clone()))
        .collect();
    PlacementProblem {
        pods,
        daemons: daemons.map(|it| it.workload.shape.clone()).collect(),
        daemon_names: Vec::new(),
        nodes,
        pools: store
            .pools
            .values()
            .map(|pool| PoolWithTypes { pool: pool.spec.clone(), instance_types: cloud.in_stock() })
            .collect(),
        held: BTreeMap::new(),
        namespaces: Arc::new(namespaces),
        settings,
    }
}

/// Every node that is not on its way out, made anew only where something changed: with thousands of
/// nodes, each of which is given up in turn, all else would take longer than what it checks.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    nodes: BTreeMap<Name, Arc<ModelNode>>,
    changed: BTreeSet<Name>,
}

impl Standing {
    /// Takes in of which nodes something changed.
    pub(super) fn note(&mut self, mut changed: BTreeSet<Name>) {
        self.changed.append(&mut changed);
    }

    /// Every node that is not on its way out, with its pods.
    pub(super) fn of(&mut self, store: &Store) -> Vec<Arc<ModelNode>> {
        for name in std::mem::take(&mut self.changed) {
            match store.nodes.get(&name).and_then(|node| model_node(node, store)) {
                Some(node) => drop(self.nodes.insert(name, Arc::new(node))),
                None => drop(self.nodes.remove(&name)),
            }
        }
        self.nodes.values().cloned().collect()
    }
}

pub(crate) fn model_pod(pod: &Pod) -> ModelPod {
    ModelPod {
        name: pod.key.name.to_string(),
        uid: pod.meta.uid.to_string(),
        created_at: pod.meta.created_at.seconds(),
        shape: Arc::clone(&pod.shape),
    }
}

fn model_node(node: &Node, store: &Store) -> Option<ModelNode> {
    let claim = store.claim_of(node);
    if node.meta.is_deleting() || claim.is_none_or(|claim| claim.meta.is_deleting()) {
        return None;
    }
    let bound = store.pods_on(&node.meta.name).map(|pod| BoundPod {
        pod: model_pod(pod),
        is_daemon: pod.owner == PodOwner::DaemonSet,
        is_leaving: pod.meta.is_deleting(),
    });
    Some(ModelNode {
        name: node.meta.name.to_string(),
        pool: claim.and_then(|claim| claim.pool()).map(str::to_owned),
        labels: node.labels.clone(),
        taints: node.taints.clone(),
        initialized: true,
        capacity: node.capacity.clone(),
        allocatable: node.allocatable.clone(),
        pods: bound.collect(),
        volume_limits: node.volume_limits.clone(),
    })
}
