//! Daemon sets: a pod on every node that will have it.

use std::sync::Arc;

use kerf_engine::observed::{Name, PodPhase};
use kerf_model::pod::PodShape;
use kerf_model::taint::{TaintEffect, Toleration, TolerationOperator};

use super::Workloads;
use crate::binder::Binder;
use crate::scenario::Workload;
use crate::store::Store;

/// Taints that Kubernetes lets every daemon tolerate, whatever the effect.
const TOLERATED: [&str; 6] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
];

/// The shape of a daemon set's pods: the template's with the tolerations every daemon gets. Made
/// once, so that all its pods share it.
pub(super) fn shape(workload: &Workload) -> Arc<PodShape> {
    let mut shape = (*workload.shape).clone();
    for key in TOLERATED {
        for effect in [TaintEffect::NoSchedule, TaintEffect::NoExecute] {
            shape.tolerations.push(Toleration {
                key: key.to_owned(),
                operator: TolerationOperator::Exists,
                value: String::new(),
                effect: Some(effect),
            });
        }
    }
    Arc::new(shape)
}

impl Workloads {
    pub(super) fn sync_daemon(
        &mut self,
        index: usize,
        node: &Name,
        store: &mut Store,
        binder: &mut Binder,
    ) {
        let keeper = &mut self.keepers[index];
        if !store.nodes.contains_key(node) {
            keeper.on_node.remove(node);
            return;
        }
        if keeper.on_node.contains_key(node) {
            return;
        }
        let shape = match keeper.shapes.get(&0) {
            Some(shape) => shape.clone(),
            None => {
                let shape = shape(&keeper.workload);
                keeper.shapes.insert(0, shape.clone());
                shape
            }
        };
        let (is_welcome, has_capacity) = binder.daemon_fits(&shape, node);
        if !is_welcome || !has_capacity {
            return;
        }
        let workload = keeper.workload.name.clone();
        let name = self.generated_name(&workload);
        let phase = PodPhase::Bound { node: node.clone() };
        self.create_pod(index, name.clone(), shape.clone(), phase, store);
        let namespace = Arc::from(shape.namespace.as_str());
        let key = kerf_engine::observed::PodKey { namespace, name };
        binder.note(&kerf_engine::event::Key::Pod(key.clone()), store);
        self.keepers[index].on_node.insert(node.clone(), key);
    }
}
