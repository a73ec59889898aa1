//! Pods that are alike: one look at the rules serves them all.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::pod::PodShape;

use super::room::Room;
use super::tally::{Counted, Tallies, TallyId, means};
use crate::words::Labels;

/// The number of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassId(pub(super) usize);

/// Pods of one shape.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) shape: Arc<PodShape>,
    pub(super) requests: Room,
    /// Spreads that must hold.
    pub(super) spreads: Vec<Spread>,
    /// Topology keys with pods that must be near, and whether the pod itself is one of them.
    pub(super) near: Vec<(String, TallyId, bool)>,
    /// Topology keys with pods that must not be near: its own terms first, then those of others
    /// that mean it.
    pub(super) apart: Vec<(String, TallyId)>,
    own_terms: usize,
    /// The tallies its pods count in, and whether they do so on their way out.
    pub(super) counts_in: Vec<(TallyId, bool)>,
}

/// A spread that must hold.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub(super) key: String,
    pub(super) tally: TallyId,
    pub(super) max_skew: u32,
    pub(super) min_domains: u32,
    pub(super) counts_itself: bool,
    pub(super) honours_affinity: bool,
    pub(super) honours_taints: bool,
}

impl Class {
    /// Reads a shape. Also says which tallies are new.
    pub(super) fn read(
        shape: &Arc<PodShape>,
        tallies: &mut Tallies,
        namespaces: &BTreeMap<String, Labels>,
    ) -> (Self, Vec<TallyId>) {
        let mut fresh = Vec::new();
        let mut find = |tallies: &mut Tallies, counted: Counted| {
            let (id, is_new) = tallies.find(counted);
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
                tally: find(tallies, counted),
                max_skew: spread.max_skew,
                min_domains: spread.min_domains.unwrap_or(1),
                counts_itself,
                honours_affinity: spread.honours_affinity,
                honours_taints: spread.honours_taints,
            });
        }
        let mut near = Vec::new();
        for term in &shape.affinity.required {
            let itself = means(term, namespace, shape, namespaces);
            let counted = Counted::Meant { namespace: namespace.clone(), term: term.clone() };
            near.push((term.topology_key.clone(), find(tallies, counted), itself));
        }
        let mut apart = Vec::new();
        for term in &shape.anti_affinity.required {
            let (namespace, term) = (namespace.clone(), term.clone());
            let meant = Counted::Meant { namespace: namespace.clone(), term: term.clone() };
            apart.push((term.topology_key.clone(), find(tallies, meant)));
            find(tallies, Counted::Holders { namespace, term });
        }
        let class = Self {
            shape: shape.clone(),
            requests: Room::of(&shape.requests),
            spreads,
            near,
            own_terms: apart.len(),
            apart,
            counts_in: Vec::new(),
        };
        (class, fresh)
    }

    /// Learns which tallies there are by now.
    pub(super) fn meet(&mut self, tallies: &Tallies, namespaces: &BTreeMap<String, Labels>) {
        self.counts_in.clear();
        self.apart.truncate(self.own_terms);
        for (counted, id) in tallies.iter() {
            if counted.counts(&self.shape, namespaces) {
                self.counts_in.push((id, counted.counts_leaving()));
            }
            if let Counted::Holders { namespace, term } = counted
                && means(term, namespace, &self.shape, namespaces)
            {
                self.apart.push((term.topology_key.clone(), id));
            }
        }
    }
}
