//! Drift from what the cloud sells: an instance type, or the way it was bought, that is gone.

use kerf_model::instance_type::Offering;
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ON_DEMAND, RESERVED, ZONE};
use kerf_model::requirement::{Operator, RequirementEntry};

use super::Verdict;
use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::{Claim, Pool};
use crate::time::{Span, Time};
use crate::world::World;

const INSTANCE_TYPE_NOT_FOUND: &str = "InstanceTypeNotFound";

/// A younger claim was chosen from what is sold, whatever a list says that is older.
const LOOK_AFTER: Span = Span::from_minutes(60);
/// What was found is not looked for again so soon.
const FOUND_COUNTS_FOR: Span = Span::from_minutes(30);

/// Whether what a claim's instance was bought as is still sold, be it available or not.
pub(super) fn judge<'a>(
    world: &'a World,
    pool: &Pool,
    claim: &Claim,
    now: Time,
    decision: &mut Decision,
) -> Verdict<'a> {
    let name = &claim.meta.name;
    let found_at = world.memory.offer_found_at.get(name).copied();
    let look_at = found_at.map_or(claim.meta.created_at + LOOK_AFTER, |at| at + FOUND_COUNTS_FOR);
    if now < look_at {
        return Verdict::Current;
    }
    // A cloud that sells nothing at all was not asked.
    let offered = world.instance_types.get(&pool.meta.name).filter(|all| !all.is_empty());
    if offered.is_none() {
        return Verdict::Unknown;
    }
    if !is_sold(world, pool, claim) {
        return Verdict::Drifted(INSTANCE_TYPE_NOT_FOUND);
    }
    decision.remember(Update::OfferFound { claim: name.clone(), at: now });
    Verdict::Current
}

fn is_sold(world: &World, pool: &Pool, claim: &Claim) -> bool {
    let Some(wanted) = claim.label(INSTANCE_TYPE) else { return false };
    let kind = world.instance_type(&pool.meta.name, wanted);
    kind.is_some_and(|kind| kind.offerings.iter().any(|offering| is_bought_as(claim, offering)))
}

/// Whether an instance with the claim's labels could have been bought by an offering. Reservations
/// come and go while their instances run on, as on-demand ones when the reservation ends: which one
/// it was does not matter.
fn is_bought_as(claim: &Claim, offering: &Offering) -> bool {
    let is_reserved = claim.label(CAPACITY_TYPE) == Some(RESERVED);
    let fits = |entry: &RequirementEntry| match claim.label(&entry.key) {
        _ if is_reserved && entry.key == CAPACITY_TYPE => {
            entry.admits(RESERVED) || entry.admits(ON_DEMAND)
        }
        _ if is_reserved && entry.key != ZONE => true,
        Some(label) => entry.admits(label),
        // What the claim says nothing about is settled by the offering.
        None => entry.operator != Operator::In || !entry.values.is_empty(),
    };
    offering.requirements.iter().all(fits)
}
