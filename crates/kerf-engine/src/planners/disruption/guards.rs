//! PodDisruptionBudgets, made ready to be asked about many pods.

use std::collections::BTreeMap;

use kerf_model::selector::{LabelSelector, LabelSet, Selector};
use kerf_model::taint::{disrupted, untolerated};
use kerf_model::vocabulary::Vocabulary;

use crate::observed::{DisruptionGuard, Pod, PodOwner};
use crate::time::Time;
use crate::world::World;

/// The guards of a world, by namespace.
pub(in crate::planners) struct Guards<'a> {
    by_namespace: BTreeMap<&'a str, Vec<(Selector, &'a DisruptionGuard)>>,
    words: Vocabulary,
}

impl<'a> Guards<'a> {
    pub(in crate::planners) fn new(world: &'a World) -> Self {
        let mut words = Vocabulary::new();
        let mut by_namespace: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for guard in world.guards.values() {
            let selector: &LabelSelector = &guard.selector;
            let selector = Selector::compile(Some(selector), &mut words);
            by_namespace.entry(&guard.namespace).or_default().push((selector, guard));
        }
        Self { by_namespace, words }
    }

    /// Whether no guard will ever let this pod go: one that allows nothing whatever happens, or
    /// several, which the eviction API refuses. A pod nobody would evict is not held by them.
    pub(in crate::planners) fn never_let_go(&mut self, pod: &Pod, now: Time) -> bool {
        if !is_evictable(pod, now) {
            return false;
        }
        let guards = self.of(pod);
        guards.len() > 1 || guards.iter().any(|guard| guard.is_absolute && holds(guard, pod))
    }

    /// The guard that does not let this pod go now, if one does not.
    pub(in crate::planners) fn holding(&mut self, pod: &Pod, now: Time) -> Option<Held<'a>> {
        if !is_evictable(pod, now) {
            return None;
        }
        let guards = self.of(pod);
        if guards.len() > 1 {
            return Some(Held::BySeveral);
        }
        let holding =
            |guard: &&&DisruptionGuard| guard.disruptions_allowed == 0 && holds(guard, pod);
        guards.iter().find(holding).map(|guard| Held::By(guard))
    }

    fn of(&mut self, pod: &Pod) -> Vec<&'a DisruptionGuard> {
        let Some(guards) = self.by_namespace.get(&*pod.key.namespace) else { return Vec::new() };
        let labels = pod.shape.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let labels = LabelSet::intern(labels, &mut self.words);
        let matching = guards.iter().filter(|(selector, _)| selector.matches(&labels));
        matching.map(|(_, guard)| *guard).collect()
    }
}

/// Who does not let a pod go.
#[derive(Clone, Copy, Debug)]
pub(in crate::planners) enum Held<'a> {
    By(&'a DisruptionGuard),
    BySeveral,
}

/// A guard may let pods that are not ready go in any case.
fn holds(guard: &DisruptionGuard, pod: &Pod) -> bool {
    !guard.frees_unready || pod.is_ready
}

/// Whether a drain would ask this pod to leave.
fn is_evictable(pod: &Pod, now: Time) -> bool {
    let stays = untolerated([&disrupted()], &pod.shape.tolerations).next().is_none();
    pod.is_active() && pod.owner != PodOwner::Node && !stays && !pod.is_protected(now)
}
