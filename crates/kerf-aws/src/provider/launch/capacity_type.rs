//! How an instance is bought: reserved before spot before on demand.

use kerf_engine::observed::Claim;
use kerf_model::labels::aws::INSTANCE_TENANCY;
use kerf_model::labels::well_known::{CAPACITY_TYPE, ON_DEMAND, RESERVED, SPOT};
use kerf_model::requirement::{Operator, RequirementEntry};
use tracing::warn;

use super::candidate::{Candidate, ReservationKind, reservation_kind, value};

/// With fewer types than this the fall-back from spot is likely to fail, too.
const FLEXIBLE_TYPES_MIN: usize = 5;

/// How a fleet buys its instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Purchase {
    /// From a capacity reservation.
    Reserved(ReservationKind),
    /// What is left over, until it is needed.
    Spot,
    /// At the list price.
    OnDemand,
}

impl Purchase {
    /// As labels and metrics name it.
    pub(crate) const fn capacity_type(self) -> &'static str {
        match self {
            Self::Reserved(_) => RESERVED,
            Self::Spot => SPOT,
            Self::OnDemand => ON_DEMAND,
        }
    }
}

/// Chooses how to buy, and leaves only what can be bought so.
pub(crate) fn choose<'t>(
    claim: &Claim,
    mut candidates: Vec<Candidate<'t>>,
) -> (Purchase, Vec<Candidate<'t>>) {
    let offerings = || candidates.iter().flat_map(|it| &it.offerings);
    let is_spot = |capacity_type: &str| capacity_type == SPOT;
    let reserved = offerings().find_map(|offering| reservation_kind(offering));
    let purchase = match reserved {
        Some(kind) => Purchase::Reserved(kind),
        None if offerings().any(|it| value(it, CAPACITY_TYPE).is_some_and(is_spot)) => {
            Purchase::Spot
        }
        None => Purchase::OnDemand,
    };
    candidates.retain_mut(|it| {
        it.retain(|offering| value(offering, CAPACITY_TYPE) == Some(purchase.capacity_type()))
    });
    if purchase == Purchase::OnDemand
        && allows(claim, CAPACITY_TYPE, SPOT)
        && candidates.len() < FLEXIBLE_TYPES_MIN
    {
        let (claim, types) = (&*claim.meta.name, candidates.len());
        warn!(claim, types, "on demand in place of spot, with few instance types to choose from");
    }
    (purchase, candidates)
}

/// The tenancy of the instance: shared hardware unless the claim forbids it.
pub(crate) fn tenancy(claim: &Claim) -> &'static str {
    if allows(claim, INSTANCE_TENANCY, "default") { "default" } else { "dedicated" }
}

fn allows(claim: &Claim, key: &str, value: &str) -> bool {
    let value = RequirementEntry::new(key, Operator::In, [value]);
    !claim.spec.node.requirements.iter().any(|entry| entry.rules_out(&value))
}

#[cfg(test)]
mod tests {
    use kerf_model::instance_type::{InstanceType, Offering};

    use super::super::fixtures::{any_of, instance_type, launch, offering, reserved};
    use super::*;

    fn all(types: &[InstanceType]) -> Vec<Candidate<'_>> {
        let candidate =
            |it| Candidate { instance_type: it, offerings: it.offerings.iter().collect() };
        types.iter().map(candidate).collect()
    }

    #[test]
    fn reserved_comes_before_spot_and_spot_before_on_demand() {
        let (on_demand, spot) = (offering("on-demand a 9"), offering("spot a 3"));
        let block = reserved("cr-1 capacity-block a 1 0");
        let lent = reserved("cr-1 interruptible a 1 0");
        let block_kind = Purchase::Reserved(ReservationKind::CapacityBlock);
        let lent_kind = Purchase::Reserved(ReservationKind::Interruptible);
        let cases: [(Vec<Offering>, Purchase); 4] = [
            (vec![on_demand.clone()], Purchase::OnDemand),
            (vec![on_demand.clone(), spot.clone()], Purchase::Spot),
            (vec![on_demand.clone(), spot.clone(), block], block_kind),
            (vec![spot, on_demand, lent], lent_kind),
        ];
        for (ways, expected) in cases {
            let types = [
                instance_type("m5.large", ways),
                instance_type("c5.large", vec![offering("on-demand b 1")]),
            ];
            let (purchase, left) = choose(&launch(Vec::new()).claim, all(&types));
            assert_eq!(purchase, expected);
            let kinds = left.iter().flat_map(|it| &it.offerings);
            let kinds = kinds.map(|it| value(it, CAPACITY_TYPE).unwrap());
            assert!(kinds.clone().all(|it| it == purchase.capacity_type()), "{purchase:?}");
            assert!(left.iter().all(|it| !it.offerings.is_empty()), "others are not asked for");
        }
    }

    #[test]
    fn hardware_is_shared_unless_the_claim_forbids_it() {
        let tenancy = |entries| tenancy(&launch(entries).claim);
        assert_eq!(tenancy(vec![]), "default");
        assert_eq!(tenancy(vec![any_of(INSTANCE_TENANCY, &["default", "dedicated"])]), "default");
        assert_eq!(tenancy(vec![any_of(INSTANCE_TENANCY, &["dedicated"])]), "dedicated");
    }
}
