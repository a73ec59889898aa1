//! Deployments: so many pods, whichever.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use kerf_engine::observed::{Name, PodKey, PodPhase};

use super::Workloads;
use crate::store::{Precondition, Store};

impl Workloads {
    pub(super) fn sync_deployment(&mut self, index: usize, store: &mut Store) {
        let keeper = &self.keepers[index];
        let (wanted, has) = (keeper.wanted as usize, keeper.active.len());
        if has < wanted {
            let (name, shape) = (keeper.workload.name.clone(), keeper.workload.shape.clone());
            for _ in has..wanted {
                let pod = self.generated_name(&name);
                self.create_pod(index, pod, shape.clone(), PodPhase::Unjudged, store);
            }
        } else if has > wanted {
            let grace = keeper.workload.grace;
            for key in self.surplus(index, has - wanted, store) {
                store.delete_pod(&key, Precondition::Nothing, grace);
                self.keepers[index].note(&key, store);
            }
        }
    }

    /// The pods that go first, as a replica set chooses: those without a node, those not ready,
    /// those that share their node with most others, the youngest.
    pub(super) fn surplus(&self, index: usize, count: usize, store: &Store) -> Vec<PodKey> {
        let keeper = &self.keepers[index];
        let pods: Vec<_> = keeper.active.iter().filter_map(|key| store.pods.get(key)).collect();
        let mut on_node: BTreeMap<Name, usize> = BTreeMap::new();
        for node in pods.iter().filter_map(|pod| pod.node()) {
            *on_node.entry(node.clone()).or_default() += 1;
        }
        let mut ranked: Vec<_> = pods
            .iter()
            .map(|pod| {
                let neighbours = pod.node().map_or(0, |node| on_node[node]);
                let rank = (
                    pod.node().is_some(),
                    pod.is_ready,
                    pod.deletion_cost,
                    Reverse(neighbours),
                    Reverse(pod.meta.created_at),
                );
                (rank, pod.key.clone())
            })
            .collect();
        ranked.sort();
        ranked.into_iter().take(count).map(|(_, key)| key).collect()
    }
}
