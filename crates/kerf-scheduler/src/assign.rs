//! Binding pods to the domains their rules about other pods need.

use kerf_model::requirement::Requirement;
use kerf_model::vocabulary::{KeyId, ValueId};

use crate::demand::{Domain, Supply};
use crate::group::Rule;
use crate::item::{Item, Pins};
use crate::solver::{Solver, pinned};
use crate::units;

/// A domain that did not take the pods of a class placed one way.
pub(crate) type Ban = (usize, usize, KeyId, ValueId);

impl Solver<'_> {
    /// Splits pods of a class, placed one way, into items bound for domains, and counts them there.
    /// Answers with the items and how many pods no domain would take.
    pub(crate) fn assign(
        &mut self,
        class: usize,
        variant: usize,
        count: i64,
        bans: &[Ban],
    ) -> (Vec<Item>, i64) {
        let keys = self.domain_keys(class, variant);
        let mut parts: Vec<(Pins, i64)> = vec![(Pins::new(), count)];
        let mut homeless = 0;
        for key in keys {
            let mut finer = Vec::new();
            for (pins, count) in parts {
                let (domains, without) = self.split(class, variant, &pins, key, count, bans);
                homeless += without;
                // A pod that finds no domain of this key leaves those of the keys before it.
                self.uncount(class, variant, &pins, without);
                for (domain, count) in domains {
                    let mut pins = pins.clone();
                    pins.push((key, domain));
                    finer.push((pins, count));
                }
            }
            parts = finer;
        }
        let items = parts.into_iter().filter(|(_, count)| *count > 0);
        let items = items.map(|(pins, count)| self.item(class, variant, pins, count)).collect();
        (items, homeless)
    }

    /// Takes pods that were bound for domains out of the counts.
    pub(crate) fn uncount(&mut self, class: usize, variant: usize, pins: &Pins, count: i64) {
        let class = &self.classes[class];
        for (key, domain) in pins {
            let variant = &class.variants[variant];
            self.counts.add(class, variant, &self.groups, *key, *domain, -count);
        }
    }

    fn item(&mut self, class: usize, variant: usize, pins: Pins, count: i64) -> Item {
        let wanted = &self.classes[class].variants[variant];
        let requirements = pinned(&wanted.node, &pins, &self.vocabulary);
        let supply = Supply {
            machines: &self.machines,
            nodes: &self.nodes,
            well_known: &self.well_known,
            vocabulary: &self.vocabulary,
        };
        let demand = self.demands.find(&requirements, &wanted.tolerated, &supply);
        Item { class, variant, pins, demand, count }
    }

    /// The keys whose domain must be known for these pods, in order.
    fn domain_keys(&self, class: usize, variant: usize) -> Vec<KeyId> {
        let class = &self.classes[class];
        let variant = &class.variants[variant];
        let is_fixed =
            |key: KeyId| variant.node.find(key).and_then(Requirement::single_value).is_some();
        let mut keys: Vec<KeyId> = self
            .groups
            .iter()
            .filter(|(id, group)| {
                // Pods that others must follow or keep away from must be somewhere certain; where
                // they can be in one place only, counting them costs nothing.
                let concerns = class.counts_in(*id)
                    && (group.binds_others || group.rule == Rule::Near || is_fixed(group.key));
                !group.is_hostname() && (variant.groups.contains(id) || concerns)
            })
            .map(|(_, group)| group.key)
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// How many pods go into each domain of one key.
    fn split(
        &mut self,
        class: usize,
        variant: usize,
        pins: &Pins,
        key: KeyId,
        count: i64,
        bans: &[Ban],
    ) -> (Vec<(ValueId, i64)>, i64) {
        let domains = self.usable_domains(class, variant, pins, key, bans);
        let mut split: Vec<(ValueId, i64)> = Vec::new();
        for placed in 0..count {
            let wanted = &self.classes[class];
            let way = &wanted.variants[variant];
            let open = domains.iter().filter(|domain| {
                self.counts.allows(wanted, way, &self.groups, key, domain.value, &self.vocabulary)
            });
            let best = open.min_by_key(|domain| {
                let crowd = self.counts.crowd(way, &self.groups, key, domain.value);
                (crowd, domain.cheapest_micros, domain.value)
            });
            let Some(best) = best.map(|domain| domain.value) else {
                return (split, count - placed);
            };
            self.counts.add(wanted, way, &self.groups, key, best, 1);
            match split.iter_mut().find(|(value, _)| *value == best) {
                Some((_, count)) => *count += 1,
                None => split.push((best, 1)),
            }
        }
        (split, 0)
    }

    /// The domains with a machine or a node that could hold one of the pods.
    fn usable_domains(
        &mut self,
        class: usize,
        variant: usize,
        pins: &Pins,
        key: KeyId,
        bans: &[Ban],
    ) -> Vec<Domain> {
        let wanted = &self.classes[class];
        let way = &wanted.variants[variant];
        let requirements = pinned(&way.node, pins, &self.vocabulary);
        let supply = Supply {
            machines: &self.machines,
            nodes: &self.nodes,
            well_known: &self.well_known,
            vocabulary: &self.vocabulary,
        };
        let demand = self.demands.find(&requirements, &way.tolerated, &supply);
        let domains = self.demands.domains(demand, key, &supply);
        let fits_machine =
            |index: &u32| units::fits(&wanted.requests, &self.machines.all[*index as usize].free);
        let fits_node =
            |index: &u32| units::fits(&wanted.requests, &self.nodes[*index as usize].free);
        let usable = domains.iter().filter(|domain| {
            !bans.contains(&(class, variant, key, domain.value))
                && (domain.machines.iter().any(fits_machine) || domain.nodes.iter().any(fits_node))
        });
        usable.cloned().collect()
    }
}
