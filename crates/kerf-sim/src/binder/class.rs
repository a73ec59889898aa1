//! Pods that are alike: the rules are read once for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::pod::PodShape;

use super::capacity::Capacity;
use super::pod_counts::{CountId, Counted, PodCounts, means};
use crate::matching::Labels;

/// The number of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassId(pub(super) usize);

/// Pods of one shape.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) shape: Arc<PodShape>,
    pub(super) requests: Capacity,
    /// Spreads that must hold.
    pub(super) spreads: Vec<Spread>,
    /// Topology keys with pods that must be in the same domain, and whether the pod itself is one of them.
    pub(super) affinity: Vec<(String, CountId, bool)>,
    /// Topology keys with pods that must not be in the same domain: its own terms first, then those of others
    /// that mean it.
    pub(super) anti_affinity: Vec<(String, CountId)>,
    own_terms: usize,
    /// The pod_counts its pods count in, and whether they do so on their way out.
    pub(super) counts_in: Vec<(CountId, bool)>,
}

/// A spread that must hold.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub(super) key: String,
    pub(super) count_id: CountId,
    pub(super) max_skew: u32,
    pub(super) min_domains: u32,
    pub(super) counts_itself: bool,
    pub(super) honours_affinity: bool,
    pub(super) honours_taints: bool,
}

impl Class {
    /// Reads a shape. Also says which pod_counts are new.
    pub(super) fn read(
        shape: &Arc<PodShape>,
        pod_counts: &mut PodCounts,
        namespaces: &BTreeMap<String, Labels>,
    ) -> (Self, Vec<CountId>) {
        let mut fresh = Vec::new();
        let mut find = |pod_counts: &mut PodCounts, counted: Counted| {
            let (id, is_new) = pod_counts.find(counted);
            fresh.extend(is_new.then_some(id));
            id
        };
        let namespace = &shape.namespace;
        let mut spreads = Vec::new();
        for spread in shape.spreads.iter().filter(|spread| spread.required) {
            let keys = spread.match_label_keys.iter().map(String::as_str);
            let selector =
                spread.selector.as_ref().map(|it| it.with_match_label_keys(keys, &shape.labels));
            let counted = Counted::Alike { namespace: namespace.clone(), selector };
            let counts_itself = counted.counts(shape, namespaces);
            spreads.push(Spread {
                key: spread.topology_key.clone(),
                count_id: find(pod_counts, counted),
                max_skew: spread.max_skew,
                min_domains: spread.min_domains.unwrap_or(1),
                counts_itself,
                honours_affinity: spread.honours_affinity,
                honours_taints: spread.honours_taints,
            });
        }
        let mut affinity = Vec::new();
        for term in &shape.affinity.required {
            let itself = means(term, namespace, shape, namespaces);
            let counted = Counted::Meant { namespace: namespace.clone(), term: term.clone() };
            affinity.push((term.topology_key.clone(), find(pod_counts, counted), itself));
        }
        let mut anti_affinity = Vec::new();
        for term in &shape.anti_affinity.required {
            let (namespace, term) = (namespace.clone(), term.clone());
            let meant = Counted::Meant { namespace: namespace.clone(), term: term.clone() };
            anti_affinity.push((term.topology_key.clone(), find(pod_counts, meant)));
            find(pod_counts, Counted::Holders { namespace, term });
        }
        let class = Self {
            shape: shape.clone(),
            requests: Capacity::of(&shape.requests),
            spreads,
            affinity,
            own_terms: anti_affinity.len(),
            anti_affinity,
            counts_in: Vec::new(),
        };
        (class, fresh)
    }

    /// Learns which pod_counts there are by now.
    pub(super) fn meet(&mut self, pod_counts: &PodCounts, namespaces: &BTreeMap<String, Labels>) {
        self.counts_in.clear();
        self.anti_affinity.truncate(self.own_terms);
        for (counted, id) in pod_counts.iter() {
            if counted.counts(&self.shape, namespaces) {
                self.counts_in.push((id, counted.counts_leaving()));
            }
            if let Counted::Holders { namespace, term } = counted
                && means(term, namespace, &self.shape, namespaces)
            {
                self.anti_affinity.push((term.topology_key.clone(), id));
            }
        }
    }
}
