//! What each pool's nodes can be made of: what the provider offers, without the zones the cluster
//! is shifted away from, and as NodeOverlays change it.
//!
//! Everything that decides reads the result; what was offered is kept to make it anew when a zone,
//! an overlay or a pool changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::ZONE;
use kerf_model::overlay::NodeOverlay;
use kerf_model::overlay_evaluation::{PoolInstanceTypes, PoolOverlay, evaluate_overlays};
use kerf_model::requirement::{Operator, RequirementEntry};

use super::World;
use crate::observed::{Key, Name};
use crate::time::Time;

/// What was offered, and what became of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Offered {
    pools: BTreeMap<Name, OfferedPool>,
    /// Overlays that are not applied, and why.
    skipped: BTreeMap<Name, String>,
    is_stale: bool,
}

/// What one pool was offered.
#[derive(Clone, Debug)]
struct OfferedPool {
    types: Arc<[InstanceType]>,
    /// When it was told.
    at: Time,
    /// The zones that were left out of the result.
    avoided: BTreeSet<Name>,
    /// The changes in the result.
    overlay: PoolOverlay,
    /// The places of the result's instance types in the order of their names.
    by_name: Vec<u32>,
}

/// What overlays changed of an instance type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overlaid {
    /// The price of some offering.
    pub(crate) price: bool,
    /// Its capacity.
    pub(crate) capacity: bool,
}

impl World {
    /// Takes in what a pool is offered. It counts from the next refresh on.
    pub(crate) fn offer(&mut self, pool: Name, types: Arc<[InstanceType]>, at: Time) {
        let (avoided, overlay) = (BTreeSet::new(), PoolOverlay::default());
        let offered = OfferedPool { types, at, avoided, overlay, by_name: Vec::new() };
        self.instance_types.remove(&pool);
        self.offered.pools.insert(pool, offered);
        self.offered.is_stale = true;
    }

    /// An instance type that a pool is offered. Asked for every node of a cluster, it must not look
    /// through the whole list.
    pub(crate) fn instance_type(&self, pool: &str, name: &str) -> Option<&InstanceType> {
        let (all, offered) = (self.instance_types.get(pool)?, self.offered.pools.get(pool)?);
        let at = |place: &u32| &all[*place as usize];
        let found = offered.by_name.binary_search_by(|place| (*at(place).name).cmp(name)).ok()?;
        Some(at(&offered.by_name[found]))
    }

    /// Whether it is known what a pool is offered.
    pub(crate) fn is_offered(&self, pool: &str) -> bool {
        self.offered.pools.contains_key(pool)
    }

    /// When the provider last told what a pool is offered.
    pub(crate) fn offered_at(&self, pool: &str) -> Option<Time> {
        self.offered.pools.get(pool).map(|offered| offered.at)
    }

    /// What each pool was offered, as the provider said it.
    pub(super) fn offers(&self) -> BTreeMap<Name, Arc<[InstanceType]>> {
        let pools = self.offered.pools.iter();
        pools.map(|(pool, offered)| (pool.clone(), offered.types.clone())).collect()
    }

    /// When each pool was.
    pub(super) fn offer_times(&self) -> BTreeMap<Name, Time> {
        let pools = self.offered.pools.iter();
        pools.map(|(pool, offered)| (pool.clone(), offered.at)).collect()
    }

    /// Forgets what a pool was offered.
    pub(super) fn withdraw_offer(&mut self, pool: &Name) {
        self.offered.pools.remove(pool);
        self.instance_types.remove(pool);
    }

    /// Notes that an object changed which others are offered by.
    pub(super) fn note_offer_dependency(&mut self, key: &Key) {
        let is_one = match key {
            Key::Overlay(_) => true,
            Key::Pool(_) => !self.overlays.is_empty(),
            _ => false,
        };
        self.offered.is_stale |= is_one;
    }

    /// Notes that zones are shifted away from, or no longer.
    pub(crate) fn note_zones_changed(&mut self) {
        self.offered.is_stale = true;
    }

    /// Why an overlay that could be read is not applied, if it is not.
    #[must_use]
    pub fn overlay_conflict(&self, overlay: &str) -> Option<&str> {
        self.offered.skipped.get(overlay).map(String::as_str)
    }

    /// What overlays changed of the instance type at that place of a pool's list.
    pub(crate) fn overlaid(&self, pool: &str, instance_type: usize) -> Overlaid {
        let types = self.offered.pools.get(pool).map(|offered| &offered.overlay.types);
        let changes = types.and_then(|types| types.get(&instance_type));
        changes.map_or_else(Overlaid::default, |changes| Overlaid {
            price: !changes.prices.is_empty(),
            capacity: !changes.capacity.is_empty(),
        })
    }

    /// Makes [`World::instance_types`] anew if anything it depends on changed. What stays equal
    /// stays the same list, so that who has read it need not do so again.
    pub(crate) fn refresh_instance_types(&mut self) {
        if !std::mem::take(&mut self.offered.is_stale) {
            return;
        }
        let avoided: BTreeSet<Name> = self.shifted.keys().cloned().collect();
        let mut evaluation = self.evaluate();
        for (name, offered) in &mut self.offered.pools {
            let overlay = evaluation.remove(name).unwrap_or_default();
            let is_same = offered.avoided == avoided && offered.overlay == overlay;
            if is_same && self.instance_types.contains_key(name) {
                continue;
            }
            let mut types = without_zones(&offered.types, &avoided);
            if !overlay.types.is_empty() {
                types = overlay.apply(&types).into();
            }
            (offered.avoided, offered.overlay) = (avoided.clone(), overlay);
            offered.by_name = by_name(&types);
            self.instance_types.insert(name.clone(), types);
        }
    }

    /// What overlays change, by pool.
    fn evaluate(&mut self) -> BTreeMap<Name, PoolOverlay> {
        self.offered.skipped.clear();
        if self.overlays.is_empty() {
            return BTreeMap::new();
        }
        let usable = self.overlays.values().filter(|overlay| !overlay.meta.is_deleting());
        let usable: Vec<NodeOverlay> =
            usable.filter_map(|it| it.spec.as_deref().ok().cloned()).collect();
        let pools = self.pools.iter();
        let pools =
            pools.filter_map(|(name, pool)| Some((name, pool, self.offered.pools.get(name)?)));
        let (names, pools): (Vec<&Name>, Vec<PoolInstanceTypes<'_>>) = pools
            .map(|(name, pool, offered)| {
                (name, PoolInstanceTypes { pool: &pool.spec, instance_types: &offered.types })
            })
            .unzip();
        let rules = self.settings.scheduler.label_rules.normalization();
        let evaluation = evaluate_overlays(&usable, &pools, rules);
        let names = names.into_iter().cloned();
        let by_pool = names.zip(evaluation.pools).collect();
        let skipped = evaluation.skipped.into_iter();
        let skipped =
            skipped.map(|it| (usable[it.overlay].name.as_str().into(), it.reason.to_string()));
        self.offered.skipped = skipped.collect();
        by_pool
    }
}

fn by_name(types: &[InstanceType]) -> Vec<u32> {
    let count = u32::try_from(types.len()).expect("fewer than 2³² instance types");
    let mut places: Vec<u32> = (0..count).collect();
    places.sort_by_key(|place| &types[*place as usize].name);
    places
}

/// The types, with nothing available in these zones.
fn without_zones(types: &Arc<[InstanceType]>, zones: &BTreeSet<Name>) -> Arc<[InstanceType]> {
    if zones.is_empty() {
        return types.clone();
    }
    let without = |instance_type: &InstanceType| {
        let mut instance_type = instance_type.clone();
        if instance_type.offerings.iter().any(|offering| is_only_in(offering, zones)) {
            for offering in Arc::make_mut(&mut instance_type.offerings) {
                offering.available &= !is_only_in(offering, zones);
            }
        }
        instance_type
    };
    types.iter().map(without).collect()
}

/// Whether an offering is in one of the zones and nowhere else.
fn is_only_in(offering: &Offering, zones: &BTreeSet<Name>) -> bool {
    let is_zone = |entry: &&RequirementEntry| entry.key == ZONE && entry.operator == Operator::In;
    let entry = offering.requirements.iter().find(is_zone);
    entry.is_some_and(|entry| entry.values.iter().all(|zone| zones.contains(zone.as_str())))
}
