//! Binding pods to the domains their rules about other pods need.

use std::sync::Arc;

use kerf_model::requirement::Requirement;
use kerf_model::vocabulary::{KeyId, ValueId};
use smallvec::SmallVec;

use crate::packing::item::{Item, Pins};
use crate::reading::demand::Domain;
use crate::reading::group::GroupId;
use crate::solving::solver::{Solver, pinned};
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
        let mut unassigned = 0;
        for key in keys {
            let mut finer = Vec::new();
            for (pins, count) in parts {
                let (domains, without) = self.split(class, variant, &pins, key, count, bans);
                unassigned += without;
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
        (items, unassigned)
    }

    /// Takes pods that were bound for domains out of the counts.
    pub(crate) fn uncount(&mut self, class: usize, variant: usize, pins: &Pins, count: i64) {
        let class = &self.base.classes[class];
        for (key, domain) in pins {
            let variant = &class.variants[variant];
            self.counts.add(class, variant, &self.base.groups, *key, *domain, -count);
        }
    }

    fn item(&mut self, class: usize, variant: usize, pins: Pins, count: i64) -> Item {
        let wanted = &self.base.classes[class].variants[variant];
        let requirements = pinned(&wanted.node, &pins, &self.base.vocabulary);
        let supply = self.base.supply();
        let demand = self.demands.find(&requirements, &wanted.tolerated, &supply);
        Item { class, variant, pins, demand, count }
    }

    /// The keys whose domain must be known for these pods, in order.
    fn domain_keys(&self, class: usize, variant: usize) -> Vec<KeyId> {
        let class = &self.base.classes[class];
        let variant = &class.variants[variant];
        let is_fixed =
            |key: KeyId| variant.node.find(key).and_then(Requirement::single_value).is_some();
        let concerned = class.concerned(variant).filter(|id| {
            let group = self.base.groups.get(*id);
            // Pods that others must follow or keep away from must be somewhere certain; where they
            // can be in one place only, counting them costs nothing.
            let concerns = || group.binds_others || self.is_followed(*id) || is_fixed(group.key);
            !group.is_hostname() && (variant.groups.contains(id) || concerns())
        });
        let mut keys: Vec<KeyId> = concerned.map(|id| self.base.groups.get(id).key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Whether some pods must stand near those that count in a group.
    fn is_followed(&self, group: GroupId) -> bool {
        self.followed.contains(u32::try_from(group).expect("a group's index"))
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
        let base = self.base;
        let domains = self.domains(class, variant, pins, key);
        let usable = domains.iter().filter(|domain| {
            !bans.contains(&(class, variant, key, domain.value)) && self.is_usable(class, domain)
        });
        let usable: SmallVec<[&Domain; 8]> = usable.collect();
        let mut split: Vec<(ValueId, i64)> = Vec::new();
        let wanted = &base.classes[class];
        let way = &wanted.variants[variant];
        for placed in 0..count {
            let open = usable.iter().filter(|domain| {
                self.counts.allows(wanted, way, &base.groups, key, domain.value, &base.vocabulary)
            });
            let best = open.min_by_key(|domain| {
                let crowd = self.counts.crowd(way, &base.groups, key, domain.value);
                (crowd, domain.cheapest_micros, domain.value)
            });
            let Some(best) = best.map(|domain| domain.value) else {
                return (split, count - placed);
            };
            self.counts.add(wanted, way, &base.groups, key, best, 1);
            match split.iter_mut().find(|(value, _)| *value == best) {
                Some((_, count)) => *count += 1,
                None => split.push((best, 1)),
            }
        }
        (split, 0)
    }

    /// The domains of a key that these pods could stand in if they were small enough.
    fn domains(&mut self, class: usize, variant: usize, pins: &Pins, key: KeyId) -> Arc<[Domain]> {
        let way = &self.base.classes[class].variants[variant];
        let requirements = pinned(&way.node, pins, &self.base.vocabulary);
        let supply = self.base.supply();
        let demand = self.demands.find(&requirements, &way.tolerated, &supply);
        self.demands.domains(demand, key, &supply)
    }

    /// Whether a domain has an instance type or a node that could hold one of the pods.
    fn is_usable(&self, class: usize, domain: &Domain) -> bool {
        let requests = &self.base.classes[class].requests;
        let fits_type = |index: &u32| {
            units::fits(requests, &self.base.instance_types.all[*index as usize].free)
        };
        let fits_node = |index: u32| units::fits(requests, self.nodes.free(index as usize));
        domain.instance_types.iter().any(fits_type) || domain.nodes.iter().any(fits_node)
    }
}
