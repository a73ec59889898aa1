//! The true state as a placement problem: what there is, whatever an engine believes.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::observed::{Node, Pod, PodOwner};
use kerf_model::labels::{LabelRules, aws, kwok};
use kerf_model::node::{BoundPod, Node as ModelNode};
use kerf_model::pod::Pod as ModelPod;
use kerf_scheduler::{PlacementProblem, PoolWithTypes, SchedulerSettings};

use crate::cloud::Cloud;
use crate::controllers::Workloads;
use crate::scenario::WorkloadKind;
use crate::store::Store;

/// The placement problem of one pod among these nodes.
pub(super) fn problem(
    pod: ModelPod,
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
        pods: vec![pod],
        daemons: daemons.map(|it| it.workload.shape.clone()).collect(),
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

/// Every node that is not on its way out, with its pods.
pub(super) fn standing(store: &Store) -> Vec<Arc<ModelNode>> {
    let nodes = store.nodes.values().filter_map(|node| model_node(node, store));
    nodes.map(Arc::new).collect()
}

pub(super) fn model_pod(pod: &Pod) -> ModelPod {
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
