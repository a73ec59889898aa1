//! Reserved capacity that claims on their way will use: the cloud does not know of them yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::claim::NodeClaim;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::{CAPACITY_TYPE, RESERVED};

use crate::observed::Claim;
use crate::world::World;
use crate::world::arrival::Arrivals;

/// How many machines of each reservation are spoken for, by its id.
pub(super) type Held<'a> = BTreeMap<&'a str, u32>;

/// What the claims that are not launched yet hold. A claim for reserved capacity names its
/// reservation among its requirements, under a key that is the cloud's own.
pub(super) fn held(world: &World) -> Held<'_> {
    let mut held = Held::new();
    let is_launched = |claim: &&Claim| {
        claim.status.provider_id.is_some() || world.memory.launched.contains_key(&claim.meta.uid)
    };
    let stored = Arrivals::stored(world).filter(|claim| !is_launched(claim));
    let decided = Arrivals::decided(world).map(|(_, claim)| &claim.wish);
    for wish in stored.map(|claim| &claim.wish).chain(decided).filter(|wish| is_reserved(wish)) {
        let entries = &wish.spec.requirements;
        for id in entries.iter().filter(|entry| entry.values.len() == 1).map(|it| &it.values[0]) {
            *held.entry(id.as_str()).or_default() += 1;
        }
    }
    held
}

/// The machines with what is spoken for taken off their reservations.
pub(super) fn without(machines: &Arc<[InstanceType]>, held: &Held<'_>) -> Arc<[InstanceType]> {
    let taken = |offering: &Offering| {
        held.get(offering.reservation.as_ref()?.id.as_str()).copied().filter(|taken| *taken > 0)
    };
    let concerned = |machine: &InstanceType| machine.offerings.iter().any(|it| taken(it).is_some());
    if held.is_empty() || !machines.iter().any(concerned) {
        return machines.clone();
    }
    let mut machines = machines.to_vec();
    for offering in machines.iter_mut().flat_map(|machine| &mut machine.offerings) {
        let taken = taken(offering).unwrap_or(0);
        if let Some(reservation) = &mut offering.reservation {
            reservation.remaining = reservation.remaining.saturating_sub(taken);
        }
    }
    machines.into()
}

fn is_reserved(wish: &NodeClaim) -> bool {
    let way = wish.spec.requirements.iter().find(|entry| entry.key == CAPACITY_TYPE);
    way.is_some_and(|entry| entry.values == [RESERVED])
}
