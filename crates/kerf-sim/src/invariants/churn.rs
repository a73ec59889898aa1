//! Churn: consolidation saves money, and is not to do it by evicting the same pods all day.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use kerf_engine::observed::PodKey;
use kerf_engine::time::{Span, Time};

use super::{Checker, Rule};
use crate::controllers::Workloads;
use crate::scenario::APP_LABEL;
use crate::store::Store;

/// How often a pod of a workload is evicted by consolidation within a day at most, on average over
/// its pods: those of a Deployment come back under other names, and nobody knows which is which.
const EVICTIONS_PER_POD_AND_DAY_MAX: usize = 6;
const DAY: Span = Span::from_minutes(24 * 60);

/// Evictions by consolidation.
#[derive(Clone, Debug, Default)]
pub(super) struct Evictions {
    /// When, by workload; those of the last day.
    pub(super) by_workload: BTreeMap<String, VecDeque<Time>>,
    /// The pods that were counted, by identity: an eviction that is refused is asked for again.
    counted: BTreeSet<Arc<str>>,
    /// The most pods a workload had.
    peaks: BTreeMap<String, usize>,
}

impl Checker {
    /// Counts an eviction, if consolidation is what takes the pod's node away.
    pub(super) fn count_eviction(&mut self, key: &PodKey, uid: &Arc<str>, store: &Store) {
        let Some(pod) = store.pods.get(key).filter(|pod| pod.meta.uid == *uid) else { return };
        let node = pod.node().and_then(|name| store.nodes.get(name));
        let claim = node.and_then(|node| store.claim_of(node));
        let is_ours = claim.is_some_and(|it| self.consolidated.contains(&it.meta.name));
        if !is_ours || !self.evictions.counted.insert(uid.clone()) {
            return;
        }
        if let Some(workload) = pod.shape.labels.get(APP_LABEL) {
            self.evictions.by_workload.entry(workload.clone()).or_default().push_back(self.now);
        }
    }

    /// How many pods consolidation evicted so far.
    #[must_use]
    pub fn consolidation_evictions(&self) -> u64 {
        self.evictions.counted.len() as u64
    }

    /// Looks whether some workload was evicted too often.
    pub(super) fn check_churn(&mut self, workloads: &Workloads) {
        let now = self.now;
        let mut found = Vec::new();
        for keeper in workloads.iter() {
            let name = &*keeper.workload.name;
            let Evictions { by_workload, peaks, .. } = &mut self.evictions;
            let peak = peaks.entry(name.to_owned()).or_default();
            *peak = (*peak).max(keeper.active.len());
            let Some(times) = by_workload.get_mut(name) else { continue };
            while times.front().is_some_and(|at| now.since(*at) > DAY) {
                times.pop_front();
            }
            let most = EVICTIONS_PER_POD_AND_DAY_MAX * (*peak).max(1);
            if times.len() > most {
                let count = times.len();
                found.push(format!("{count} pods of {name} evicted to save money, {peak} there"));
                times.clear();
            }
        }
        found.into_iter().for_each(|what| self.object(Rule::Churn, what));
    }
}
