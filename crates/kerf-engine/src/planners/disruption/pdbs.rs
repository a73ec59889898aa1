//! PodDisruptionBudgets, made ready to be asked about many pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::selector::{LabelSelector, LabelSet, Selector};
use kerf_model::taint::{disrupted, untolerated};
use kerf_model::vocabulary::Vocabulary;

use crate::observed::{Pod, PodDisruptionBudget, PodOwner};
use crate::time::Time;
use crate::world::World;

/// The PodDisruptionBudgets of a world, by namespace.
pub(in crate::planners) struct Pdbs<'a> {
    by_namespace: BTreeMap<&'a str, Vec<(Selector, &'a PodDisruptionBudget)>>,
    words: Vocabulary,
}

impl<'a> Pdbs<'a> {
    pub(in crate::planners) fn new(world: &'a World) -> Self {
        let mut words = Vocabulary::new();
        let mut by_namespace: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for pdb in world.pdbs.values().map(Arc::as_ref) {
            let selector: &LabelSelector = &pdb.selector;
            let selector = Selector::compile(Some(selector), &mut words);
            by_namespace.entry(&pdb.namespace).or_default().push((selector, pdb));
        }
        Self { by_namespace, words }
    }

    /// Whether no budget will ever let this pod go: one that allows nothing whatever happens, or
    /// several, which the eviction API refuses. A pod nobody would evict is not held by them.
    pub(in crate::planners) fn never_let_go(&mut self, pod: &Pod, now: Time) -> bool {
        if !is_evictable(pod, now) {
            return false;
        }
        let pdbs = self.of(pod);
        pdbs.len() > 1 || pdbs.iter().any(|pdb| pdb.is_absolute && holds(pdb, pod))
    }

    /// The budget that does not let this pod go now, if one does not.
    pub(in crate::planners) fn holding(&mut self, pod: &Pod, now: Time) -> Option<Held<'a>> {
        if !is_evictable(pod, now) {
            return None;
        }
        let pdbs = self.of(pod);
        if pdbs.len() > 1 {
            return Some(Held::BySeveral);
        }
        let holding = |pdb: &&&PodDisruptionBudget| pdb.disruptions_allowed == 0 && holds(pdb, pod);
        pdbs.iter().find(holding).map(|pdb| Held::By(pdb))
    }

    fn of(&mut self, pod: &Pod) -> Vec<&'a PodDisruptionBudget> {
        let Some(pdbs) = self.by_namespace.get(&*pod.key.namespace) else { return Vec::new() };
        let labels = pod.shape.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let labels = LabelSet::intern(labels, &mut self.words);
        let matching = pdbs.iter().filter(|(selector, _)| selector.matches(&labels));
        matching.map(|(_, pdb)| *pdb).collect()
    }
}

/// Who does not let a pod go.
#[derive(Clone, Copy, Debug)]
pub(in crate::planners) enum Held<'a> {
    By(&'a PodDisruptionBudget),
    BySeveral,
}

/// A budget may let pods that are not ready go in any case.
fn holds(pdb: &PodDisruptionBudget, pod: &Pod) -> bool {
    !pdb.frees_unready || pod.is_ready
}

/// Whether a drain would ask this pod to leave.
fn is_evictable(pod: &Pod, now: Time) -> bool {
    let stays = untolerated([&disrupted()], &pod.shape.tolerations).next().is_none();
    pod.is_active() && pod.owner != PodOwner::Node && !stays && !pod.is_protected(now)
}
