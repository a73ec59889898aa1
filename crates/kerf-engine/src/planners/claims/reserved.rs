//! Claims in capacity that was reserved beforehand: what becomes of them when their reservation
//! leaves them, or ends.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::labels::well_known::{CAPACITY_TYPE, ON_DEMAND, RESERVED};

use super::Reconcile;
use crate::condition::claim::REGISTERED;
use crate::observed::Claim;
use crate::provider::ReservationLabels;
use crate::world::World;

/// An instance whose reservation was cancelled or shrunk runs on and is paid for by the hour, and
/// its claim says so. Never the other way: who did not ask for a reservation cannot count on it.
pub(super) fn demote(reconcile: &mut Reconcile<'_>) {
    let Some(labels) = &reconcile.world.settings.provider.reservation_labels else { return };
    if has_left_reservation(reconcile.world, reconcile.claim) {
        let patch = &mut reconcile.patch;
        let own = &reconcile.claim.spec.labels;
        take_off(labels, own, &mut patch.labels, &mut patch.labels_removed);
    }
}

/// Whether a claim says it is reserved and the cloud says that its instance is not. Only of
/// instances that have joined: of a younger one the cloud may not tell everything yet.
fn has_left_reservation(world: &World, claim: &Claim) -> bool {
    if !is_reserved(claim) || !claim.status.conditions.is_true(REGISTERED) {
        return false;
    }
    let (Some(list), Some(id)) = (&world.memory.instances, &claim.status.provider_id) else {
        return false;
    };
    let listed = list.instances.get(id);
    let capacity_type = listed.and_then(|instance| instance.labels.get(CAPACITY_TYPE));
    capacity_type.is_some_and(|capacity_type| capacity_type == ON_DEMAND)
}

/// Whether the reservation that a claim's instance runs in is about to end.
pub(super) fn is_reservation_ending(world: &World, claim: &Claim) -> bool {
    let Some(labels) = &world.settings.provider.reservation_labels else { return false };
    let class = world.memory.node_classes.get(&claim.spec.node.node_class);
    let found = class.and_then(|class| class.found.as_ref());
    is_reserved(claim)
        && found.is_some_and(|found| {
            claim.label(&labels.id).is_some_and(|id| found.ending_reservations.contains(id))
        })
}

/// Whether a claim says that its instance is reserved.
pub(crate) fn is_reserved(claim: &Claim) -> bool {
    claim.label(CAPACITY_TYPE) == Some(RESERVED)
}

/// What changes of labels that speak of a reservation when there is none any more.
pub(in crate::planners) fn take_off(
    labels: &ReservationLabels,
    own: &BTreeMap<String, String>,
    set: &mut BTreeMap<String, String>,
    removed: &mut BTreeSet<String>,
) {
    set.insert(CAPACITY_TYPE.to_owned(), ON_DEMAND.to_owned());
    removed.extend(labels.keys().filter(|key| own.contains_key(*key)).cloned());
}
