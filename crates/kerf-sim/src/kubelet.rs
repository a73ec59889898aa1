//! The kubelets: they start pods that came and end pods that must go.

use std::sync::Arc;

use kerf_engine::event::Key;
use kerf_engine::observed::PodKey;
use kerf_engine::time::Time;
use rustc_hash::FxHashMap;

use crate::controllers::Workloads;
use crate::sim_event::{Queue, SimEvent};
use crate::store::Store;

/// What the kubelets have taken on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kubelets {
    attended: FxHashMap<PodKey, Attended>,
}

#[derive(Clone, Debug)]
struct Attended {
    uid: Arc<str>,
    gone_at: Option<Time>,
}

impl Kubelets {
    /// Takes in a change of a pod.
    pub(crate) fn note(
        &mut self,
        key: &Key,
        store: &Store,
        workloads: &Workloads,
        queue: &mut Queue,
    ) {
        let Key::Pod(key) = key else { return };
        let Some(pod) = store.pods.get(key) else {
            self.attended.remove(key);
            return;
        };
        if pod.node().is_none() {
            return;
        }
        let Some(workload) = workloads.workload_of(key) else { return };
        let now = store.now;
        let known = self.attended.get(key).filter(|known| known.uid == pod.meta.uid);
        let uid = pod.meta.uid.clone();
        let mut attended = known.cloned().unwrap_or_else(|| {
            let start = SimEvent::PodStarts(key.clone(), uid.clone());
            queue.at(now + workload.starts_in, start);
            Attended { uid: uid.clone(), gone_at: None }
        });
        if let Some(deadline) = pod.meta.deleting_since {
            let gone_at = (now + workload.stops_in).min(deadline.max(now));
            if attended.gone_at.is_none_or(|known| gone_at < known) {
                queue.at(gone_at, SimEvent::PodGone(key.clone(), uid));
                attended.gone_at = Some(gone_at);
            }
        }
        self.attended.insert(key.clone(), attended);
    }
}
