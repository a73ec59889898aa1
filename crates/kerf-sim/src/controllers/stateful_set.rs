//! Stateful sets: numbered pods, one after the other, each with a volume of its own if wanted.

use std::sync::Arc;

use kerf_engine::observed::{Name, PodKey, PodPhase};
use kerf_model::labels::well_known::ZONE;
use kerf_model::pod::{PodShape, PodVolume};
use kerf_model::requirement::{Operator, RequirementEntry};

use super::{Keeper, Workloads};
use crate::store::{Precondition, Store};

/// What attaches the volumes.
const DRIVER: &str = "ebs.csi.aws.com";

impl Workloads {
    pub(super) fn sync_stateful_set(&mut self, index: usize, store: &mut Store) {
        let keeper = &self.keepers[index];
        let namespace: Name = Arc::from(keeper.workload.shape.namespace.as_str());
        let key = |number: u32| PodKey {
            namespace: namespace.clone(),
            name: Arc::from(format!("{}-{number}", keeper.workload.name)),
        };
        let grace = keeper.workload.grace;
        let highest = (keeper.wanted..).take_while(|number| keeper.all.contains(&key(*number)));
        if let Some(number) = highest.last() {
            // From the highest number down, one at a time.
            let key = key(number);
            store.delete_pod(&key, Precondition::Nothing, grace);
            self.keepers[index].note(&key, store);
            return;
        }
        let missing = (0..keeper.wanted).find(|number| !keeper.ready.contains(&key(*number)));
        let Some(number) = missing else { return };
        let key = key(number);
        if !keeper.all.contains(&key) {
            let shape = self.keepers[index].numbered_shape(number);
            self.create_pod(index, key.name, shape, PodPhase::Unjudged, store);
        }
    }

    /// Ties the volume of a pod to the zone of its node.
    pub(crate) fn settle_volume(&mut self, pod: &PodKey, zone: &str) {
        let Some(index) = self.owner.get(pod).copied() else { return };
        let number = pod.name.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
        if let Some(number) = number {
            self.keepers[index].settle(number, zone);
        }
    }
}

impl Keeper {
    fn numbered_shape(&mut self, number: u32) -> Arc<PodShape> {
        if !self.workload.has_volume {
            return self.workload.shape.clone();
        }
        let shape = self.shapes.entry(number);
        let (workload, namespace) = (&self.workload, &self.workload.shape.namespace);
        shape
            .or_insert_with(|| {
                let mut shape = (*workload.shape).clone();
                shape.volumes.push(PodVolume {
                    claim: format!("{namespace}/data-{}-{number}", workload.name),
                    driver: Some(DRIVER.to_owned()),
                    reachable_from: Vec::new(),
                });
                Arc::new(shape)
            })
            .clone()
    }

    fn settle(&mut self, number: u32, zone: &str) {
        let Some(shape) = self.shapes.get_mut(&number) else { return };
        if shape.volumes.iter().any(|volume| volume.reachable_from.is_empty()) {
            let mut settled = (**shape).clone();
            for volume in &mut settled.volumes {
                volume.reachable_from =
                    vec![vec![RequirementEntry::new(ZONE, Operator::In, [zone])]];
            }
            *shape = Arc::new(settled);
        }
    }
}
