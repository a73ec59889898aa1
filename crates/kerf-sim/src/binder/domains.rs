//! The domains of one class of pods: how many pods each has, and which may get one more.

use std::collections::BTreeMap;

use kerf_engine::observed::Name;

use super::Slot;
use super::class::{Class, ClassId};
use super::tally::Tallies;
use crate::words::Labels;

/// Counts by domain for every rule of a class, kept up to date while its pods are placed.
pub(super) struct Domains {
    spreads: Vec<BTreeMap<String, u32>>,
    near: Vec<BTreeMap<String, u32>>,
    apart: Vec<BTreeMap<String, u32>>,
}

impl Domains {
    pub(super) fn read(
        class: &Class,
        id: ClassId,
        nodes: &BTreeMap<Name, Slot>,
        tallies: &Tallies,
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
                    add(&mut counts, domain, tallies.on(spread.tally, name));
                }
            }
            spreads.push(counts);
        }
        let sum = |key: &str, tally| {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for (name, slot) in nodes {
                let count = tallies.on(tally, name);
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
            near: class.near.iter().map(|(key, tally, _)| sum(key, *tally)).collect(),
            apart: class.apart.iter().map(|(key, tally)| sum(key, *tally)).collect(),
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
        let near = class.near.iter().zip(&self.near).all(|((key, _, itself), counts)| {
            let Some(domain) = labels.get(key) else { return false };
            // The first of pods that want to be together has nobody to go to.
            counts.contains_key(domain) || (*itself && counts.is_empty())
        });
        let apart = class.apart.iter().zip(&self.apart).all(|((key, _), counts)| {
            labels.get(key).is_none_or(|domain| !counts.contains_key(domain))
        });
        spreads && near && apart
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
        for ((key, _, itself), counts) in class.near.iter().zip(&mut self.near) {
            if *itself {
                count(counts, key);
            }
        }
        let counts_in = |tally| class.counts_in.iter().any(|(id, _)| *id == tally);
        for ((key, tally), counts) in class.apart.iter().zip(&mut self.apart) {
            if counts_in(*tally) {
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
