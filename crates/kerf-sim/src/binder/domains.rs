//! The domains of one class of pods: how many pods each has, and which may get one more.

use std::collections::BTreeMap;

use kerf_engine::observed::Name;
use rustc_hash::FxHashMap;

use super::Slot;
use super::class::{Class, ClassId};
use super::pod_counts::PodCounts;
use crate::matching::Labels;

/// Counts by domain for every rule of a class, kept up to date while its pods are placed.
pub(super) struct Domains {
    spreads: Vec<BTreeMap<String, u32>>,
    affinity: Vec<BTreeMap<String, u32>>,
    anti_affinity: Vec<BTreeMap<String, u32>>,
}

impl Domains {
    pub(super) fn read(
        class: &Class,
        id: ClassId,
        nodes: &FxHashMap<Name, Slot>,
        pod_counts: &PodCounts,
    ) -> Self {
        let mut spreads = Vec::new();
        for spread in &class.spreads {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for (name, slot) in nodes {
                let Some(domain) = slot.labels.get(&spread.key) else { continue };
                let welcome = slot.welcomes.get(id.0).copied().flatten();
                let counted = welcome.is_some_and(|welcome| {
                    (welcome.by_labels || !spread.honours_affinity)
                        && (welcome.by_taints || !spread.honours_taints)
                });
                if counted {
                    add(&mut counts, domain, pod_counts.on(spread.count_id, name));
                }
            }
            spreads.push(counts);
        }
        let sum = |key: &str, count_id| {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for (name, slot) in nodes {
                let count = pod_counts.on(count_id, name);
                if count > 0
                    && let Some(domain) = slot.labels.get(key)
                {
                    add(&mut counts, domain, count);
                }
            }
            counts
        };
        Self {
            spreads,
            affinity: class.affinity.iter().map(|(key, count_id, _)| sum(key, *count_id)).collect(),
            anti_affinity: class
                .anti_affinity
                .iter()
                .map(|(key, count_id)| sum(key, *count_id))
                .collect(),
        }
    }

    /// Whether one more pod of the class may come to a node with these labels.
    pub(super) fn admit(&self, class: &Class, labels: &Labels) -> bool {
        let spreads = class.spreads.iter().zip(&self.spreads).all(|(spread, counts)| {
            let Some(here) = labels.get(&spread.key).and_then(|domain| counts.get(domain)) else {
                return false;
            };
            let too_few = counts.len() < spread.min_domains as usize;
            let least = if too_few { 0 } else { counts.values().min().copied().unwrap_or(0) };
            here + u32::from(spread.counts_itself) <= least + spread.max_skew
        });
        let affinity =
            class.affinity.iter().zip(&self.affinity).all(|((key, _, itself), counts)| {
                let Some(domain) = labels.get(key) else { return false };
                // The first of pods that want to be together has nobody to go to.
                counts.contains_key(domain) || (*itself && counts.is_empty())
            });
        let anti_affinity =
            class.anti_affinity.iter().zip(&self.anti_affinity).all(|((key, _), counts)| {
                labels.get(key).is_none_or(|domain| !counts.contains_key(domain))
            });
        spreads && affinity && anti_affinity
    }

    /// Counts one more pod of the class on a node with these labels.
    pub(super) fn add(&mut self, class: &Class, labels: &Labels) {
        let count = |counts: &mut BTreeMap<String, u32>, key: &str| {
            if let Some(domain) = labels.get(key) {
                add(counts, domain, 1);
            }
        };
        for (spread, counts) in class.spreads.iter().zip(&mut self.spreads) {
            if spread.counts_itself {
                count(counts, &spread.key);
            }
        }
        for ((key, _, itself), counts) in class.affinity.iter().zip(&mut self.affinity) {
            if *itself {
                count(counts, key);
            }
        }
        let counts_in = |count_id| class.counts_in.iter().any(|(id, _)| *id == count_id);
        for ((key, count_id), counts) in class.anti_affinity.iter().zip(&mut self.anti_affinity) {
            if counts_in(*count_id) {
                count(counts, key);
            }
        }
    }
}

/// Counts more pods in a domain. Thousands of nodes share a few domains, so a name is seldom new.
fn add(counts: &mut BTreeMap<String, u32>, domain: &str, count: u32) {
    match counts.get_mut(domain) {
        Some(known) => *known += count,
        None => drop(counts.insert(domain.to_owned(), count)),
    }
}
