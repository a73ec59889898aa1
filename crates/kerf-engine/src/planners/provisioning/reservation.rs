//! Reserved capacity that claims on their way will use: the cloud does not know of them yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::claim::NodeClaim;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::{CAPACITY_TYPE, RESERVED};

use crate::observed::Claim;
use crate::world::World;
use crate::world::arrival::Arrivals;

/// How many instances of each reservation are spoken for, by its id.
pub(super) type Held<'a> = BTreeMap<&'a str, u32>;

/// What the claims that are not launched yet hold. A claim for reserved capacity names its
/// reservation among its requirements, under a key that is the cloud's own.
pub(super) fn held(world: &World) -> Held<'_> {
    let mut held = Held::new();
    let is_launched = |claim: &&Claim| {
        claim.status.provider_id.is_some() || world.memory.launched.contains_key(&claim.meta.uid)
    };
    let stored = Arrivals::stored(world).filter(|claim| !is_launched(claim));
    let decided = Arrivals::decided(world).map(|(_, claim)| &claim.spec);
    for spec in stored.map(|claim| &claim.spec).chain(decided).filter(|spec| is_reserved(spec)) {
        let entries = &spec.node.requirements;
        for id in entries.iter().filter(|entry| entry.values.len() == 1).map(|it| &it.values[0]) {
            *held.entry(id.as_str()).or_default() += 1;
        }
    }
    held
}

/// The instances with what is spoken for taken off their reservations.
pub(super) fn without(instances: &Arc<[InstanceType]>, held: &Held<'_>) -> Arc<[InstanceType]> {
    let taken = |offering: &Offering| {
        held.get(offering.reservation.as_ref()?.id.as_str()).copied().filter(|taken| *taken > 0)
    };
    let dependents =
        |instance: &InstanceType| instance.offerings.iter().any(|it| taken(it).is_some());
    if held.is_empty() || !instances.iter().any(dependents) {
        return instances.clone();
    }
    let mut instances = instances.to_vec();
    for offering in instances.iter_mut().flat_map(|instance| &mut instance.offerings) {
        let taken = taken(offering).unwrap_or(0);
        if let Some(reservation) = &mut offering.reservation {
            reservation.remaining = reservation.remaining.saturating_sub(taken);
        }
    }
    instances.into()
}

fn is_reserved(spec: &NodeClaim) -> bool {
    let way = spec.node.requirements.iter().find(|entry| entry.key == CAPACITY_TYPE);
    way.is_some_and(|entry| entry.values == [RESERVED])
}
