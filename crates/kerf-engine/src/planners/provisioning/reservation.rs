//! Reserved capacity that claims on their way will use: the cloud does not know of them yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::claim::NodeClaim;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::{CAPACITY_TYPE, RESERVED};

use crate::condition::Status;
use crate::condition::claim::LAUNCHED;
use crate::observed::Claim;
use crate::time::{Span, Time};
use crate::world::World;
use crate::world::arrival::Arrivals;

/// How many instances of each reservation are spoken for, by its id.
pub(super) type Held<'a> = BTreeMap<&'a str, u32>;

/// The claims for reserved capacity, with the time their launch was stored if it was. Such a claim
/// names its reservation among its requirements, under a key that is the cloud's own.
pub(super) struct ReservedClaims<'a> {
    claims: Vec<(Option<Time>, &'a NodeClaim)>,
}

/// Stored times are cut to whole seconds.
const SECOND: Span = Span::from_seconds(1);

impl<'a> ReservedClaims<'a> {
    pub(super) fn of(world: &'a World) -> Self {
        let stored = world.claims.values().filter(|claim| is_reserved(&claim.spec));
        let stored = stored.map(|claim| (launched_at(claim), claim));
        let holding = stored.filter(|(at, claim)| at.is_some() || !world.is_leaving(claim));
        let stored = holding.map(|(at, claim)| (at, &claim.spec));
        let decided = Arrivals::decided(world).map(|(_, claim)| (None, &claim.spec));
        let decided = decided.filter(|(_, spec)| is_reserved(spec));
        Self { claims: stored.chain(decided).collect() }
    }

    /// What claims hold that the cloud had not counted when it told what a pool is offered: those
    /// that were not launched then.
    pub(super) fn held(&self, offered_at: Option<Time>) -> Held<'a> {
        let mut held = Held::new();
        let is_counted = |launched: Time| offered_at.is_some_and(|at| at > launched + SECOND);
        let claims = self.claims.iter().filter(|(at, _)| !at.is_some_and(is_counted));
        for (_, spec) in claims {
            let entries = spec.node.requirements.iter().filter(|entry| entry.values.len() == 1);
            for id in entries.map(|entry| &entry.values[0]) {
                *held.entry(id.as_str()).or_default() += 1;
            }
        }
        held
    }
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
    for instance in instances.iter_mut().filter(|instance| dependents(instance)) {
        for offering in Arc::make_mut(&mut instance.offerings) {
            let taken = taken(offering).unwrap_or(0);
            if let Some(reservation) = &mut offering.reservation {
                reservation.remaining = reservation.remaining.saturating_sub(taken);
            }
        }
    }
    instances.into()
}

/// When a claim's launch was stored; none where it is not, though it may have been answered.
fn launched_at(claim: &Claim) -> Option<Time> {
    let launched = claim.status.conditions.get(LAUNCHED);
    launched.filter(|it| it.status == Status::True).map(|it| it.changed_at)
}

fn is_reserved(spec: &NodeClaim) -> bool {
    let way = spec.node.requirements.iter().find(|entry| entry.key == CAPACITY_TYPE);
    way.is_some_and(|entry| entry.values == [RESERVED])
}
