//! Jobs: pods that end by themselves, until enough have.

use kerf_engine::observed::PodPhase;

use super::Workloads;
use crate::store::{Precondition, Store};

impl Workloads {
    pub(super) fn sync_job(&mut self, index: usize, completions: u32, store: &mut Store) {
        let keeper = &self.keepers[index];
        let left = completions.saturating_sub(keeper.done);
        let wanted = keeper.wanted.min(left) as usize;
        let has = keeper.active.len();
        let (name, shape) = (keeper.workload.name.clone(), keeper.workload.shape.clone());
        let grace = keeper.workload.grace;
        for _ in has..wanted {
            let pod = self.generated_name(&name);
            self.create_pod(index, pod, shape.clone(), PodPhase::Unjudged, store);
        }
        // A job that may have no pods at once is suspended.
        if self.keepers[index].wanted == 0 {
            for key in self.surplus(index, has, store) {
                store.delete_pod(&key, Precondition::Nothing, grace);
                self.keepers[index].note(&key, store);
            }
        }
    }
}
