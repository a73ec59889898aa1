//! Which zones the pods that run leave to others: spreads, affinity and anti-affinity by zone.

use std::collections::{BTreeMap, BTreeSet};

use kerf_engine::World;
use kerf_model::labels::well_known::ZONE;
use kerf_model::pod::{PodAffinityTerm, PodShape, SpreadConstraint};
use kerf_model::selector::{LabelSelector, LabelSet, Namespace, Selector};
use kerf_model::vocabulary::Vocabulary;

use super::zones::admits;

/// How many pods a rule means, by zone.
type Counts = BTreeMap<String, usize>;

/// Pods on nodes, by namespace; read when somebody first asks.
pub(super) struct Neighbours<'a> {
    world: &'a World,
    vocabulary: Vocabulary,
    pods: Option<BTreeMap<&'a str, Vec<(LabelSet, &'a str)>>>,
    namespaces: Option<Vec<Namespace>>,
}

impl<'a> Neighbours<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Self { world, vocabulary: Vocabulary::new(), pods: None, namespaces: None }
    }

    /// Takes out the zones that a required rule of the pod rules out as things are.
    pub(super) fn leave_valid(
        &mut self,
        shape: &PodShape,
        zones: &BTreeSet<&str>,
        fitting: &mut BTreeSet<&str>,
    ) {
        let by_zone = |key: &str| key == ZONE;
        for spread in &shape.spreads {
            if spread.required && by_zone(&spread.topology_key) {
                self.leave_balanced(shape, spread, zones, fitting);
            }
        }
        for term in shape.affinity.required.iter().filter(|term| by_zone(&term.topology_key)) {
            let (counts, is_own) = self.of_term(shape, term);
            // The first of a group may start anywhere.
            if !(counts.is_empty() && is_own) {
                fitting.retain(|zone| counts.contains_key(*zone));
            }
        }
        for term in shape.anti_affinity.required.iter().filter(|term| by_zone(&term.topology_key)) {
            let (counts, _) = self.of_term(shape, term);
            fitting.retain(|zone| !counts.contains_key(*zone));
        }
    }

    fn leave_balanced(
        &mut self,
        shape: &PodShape,
        spread: &SpreadConstraint,
        zones: &BTreeSet<&str>,
        fitting: &mut BTreeSet<&str>,
    ) {
        let keys = spread.match_label_keys.iter().map(String::as_str);
        let selector = spread.selector.as_ref();
        let selector = selector.map(|it| it.with_match_label_keys(keys, &shape.labels));
        let namespaces = [shape.namespace.clone()].into();
        let (counts, is_own) = self.counted(shape, selector.as_ref(), &namespaces);
        let count = |zone: &str| counts.get(zone).copied().unwrap_or_default();
        let domains = zones.iter().filter(|zone| !spread.honours_affinity || admits(shape, zone));
        let domains: Vec<usize> = domains.map(|zone| count(zone)).collect();
        let wanted = spread.min_domains.map_or(0, |count| usize::try_from(count).unwrap_or(0));
        let least = domains.iter().min().copied().filter(|_| domains.len() >= wanted);
        let most = least.unwrap_or_default().saturating_add(spread.max_skew as usize);
        fitting.retain(|zone| count(zone) + usize::from(is_own) <= most);
    }

    fn of_term(&mut self, shape: &PodShape, term: &PodAffinityTerm) -> (Counts, bool) {
        let (world, vocabulary) = (self.world, &mut self.vocabulary);
        let known = self.namespaces.get_or_insert_with(|| {
            let namespaces = world.namespaces.values();
            let namespace = |it: &std::sync::Arc<kerf_engine::observed::Namespace>| Namespace {
                name: it.meta.name.to_string(),
                labels: interned(&it.labels, vocabulary),
            };
            namespaces.map(namespace).collect()
        });
        let namespaces = term.namespaces.resolve(&shape.namespace, known, &mut self.vocabulary);
        self.counted(shape, term.selector.as_ref(), &namespaces)
    }

    /// The pods that are meant, by zone, and whether the pod itself is.
    fn counted(
        &mut self,
        shape: &PodShape,
        selector: Option<&LabelSelector>,
        namespaces: &BTreeSet<String>,
    ) -> (Counts, bool) {
        let (world, vocabulary) = (self.world, &mut self.vocabulary);
        let selector = Selector::compile(selector, vocabulary);
        let pods = self.pods.get_or_insert_with(|| pods_by_namespace(world, vocabulary));
        let mut counts = Counts::new();
        for (labels, zone) in namespaces.iter().filter_map(|it| pods.get(it.as_str())).flatten() {
            if selector.matches(labels) {
                *counts.entry((*zone).to_owned()).or_default() += 1;
            }
        }
        let own = interned(&shape.labels, &mut self.vocabulary);
        let is_own = namespaces.contains(&shape.namespace) && selector.matches(&own);
        (counts, is_own)
    }
}

fn pods_by_namespace<'a>(
    world: &'a World,
    vocabulary: &mut Vocabulary,
) -> BTreeMap<&'a str, Vec<(LabelSet, &'a str)>> {
    let mut pods: BTreeMap<&str, Vec<(LabelSet, &str)>> = BTreeMap::new();
    for node in world.nodes.values() {
        let Some(zone) = node.labels.get(ZONE) else { continue };
        for pod in world.pods_on(&node.meta.name).filter(|pod| pod.is_active()) {
            let labels = interned(&pod.shape.labels, vocabulary);
            pods.entry(&pod.shape.namespace).or_default().push((labels, zone));
        }
    }
    pods
}

fn interned(labels: &BTreeMap<String, String>, vocabulary: &mut Vocabulary) -> LabelSet {
    let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    LabelSet::intern(labels, vocabulary)
}
