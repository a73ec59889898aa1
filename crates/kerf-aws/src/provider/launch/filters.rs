//! Which of the instance types a claim allows are asked for: six filters, one after the other.

use std::collections::BTreeMap;

use kerf_catalog::resource_name::{AMD_GPU, GAUDI, NEURON, NEURON_CORE, NVIDIA_GPU};
use kerf_engine::action::Launch;
use kerf_engine::event::Failure;
use kerf_model::instance_type::{InstanceType, Reservation};
use kerf_model::labels::LabelRules;
use kerf_model::labels::annotation::MIN_VALUES_RELAXED;
use kerf_model::labels::aws::INSTANCE_SIZE;
use kerf_model::labels::well_known::{CAPACITY_TYPE, ON_DEMAND, SPOT, ZONE};
use kerf_model::min_values::review_min_values;
use kerf_model::requirement::{BadBound, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;

use super::candidate::{Candidate, ReservationKind, only_value, reservation_kind, value};

/// So many instance types are asked for at most: more make the request longer, not likelier to
/// succeed. As in Karpenter.
pub(crate) const TYPES_MAX: usize = 60;

/// What nobody gets who does not ask for it, as long as there is something else.
const EXOTIC: [&str; 5] = [NEURON, NEURON_CORE, AMD_GPU, NVIDIA_GPU, GAUDI];

/// The instance types to ask for, cheapest first.
///
/// # Errors
/// None is left, or a requirement cannot be understood.
pub(crate) fn candidates<'t>(
    launch: &Launch,
    types: &'t [InstanceType],
    rules: &LabelRules,
) -> Result<Vec<Candidate<'t>>, Failure> {
    let invalid = |error: BadBound| Failure::Invalid { message: error.to_string() };
    let mut left = available(launch, types, rules).map_err(invalid)?;
    left = of_one_reservation_kind(left);
    left = of_one_capacity_block(left);
    left = of_fullest_reservations(left);
    if !has_min_values(launch) {
        left = without_exotic(left);
        left = without_dear_spot(left);
    }
    if left.is_empty() {
        return Err(none_left("no instance type that the claim allows is available"));
    }
    left.sort_by(|a, b| {
        (a.price(), &a.instance_type.name).cmp(&(b.price(), &b.instance_type.name))
    });
    left.truncate(TYPES_MAX);
    if !keeps_min_values(launch, &left, rules).map_err(invalid)? {
        return Err(none_left("the instance types that are available do not meet minValues"));
    }
    Ok(left)
}

/// What the engine deletes a claim for, so that its pods find another place.
fn none_left(why: &str) -> Failure {
    let message = format!("all requested instance types were unavailable during launch: {why}");
    Failure::InsufficientCapacity { message }
}

/// The first filter: what the claim allows, is large enough and can be had.
fn available<'t>(
    launch: &Launch,
    types: &'t [InstanceType],
    rules: &LabelRules,
) -> Result<Vec<Candidate<'t>>, BadBound> {
    let mut candidates: Vec<Candidate<'t>> = Vec::new();
    for allowed in launch.offerings(types, rules)? {
        let of_type =
            |it: &&mut Candidate<'_>| std::ptr::eq(it.instance_type, allowed.instance_type);
        match candidates.iter_mut().find(of_type) {
            Some(candidate) => candidate.offerings.push(allowed.offering),
            None => candidates.push(Candidate {
                instance_type: allowed.instance_type,
                offerings: vec![allowed.offering],
            }),
        }
    }
    Ok(candidates)
}

/// The second: a fleet takes reservations of one kind only, so the kind with the cheapest offering
/// is chosen, and all else is given up for it.
fn of_one_reservation_kind(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let offerings = candidates.iter().flat_map(|it| &it.offerings);
    let reserved = offerings.filter_map(|it| Some((it.price, reservation_kind(it)?)));
    if let Some((_, kind)) = reserved.min() {
        candidates.retain_mut(|it| it.retain(|offering| reservation_kind(offering) == Some(kind)));
    }
    candidates
}

/// The third: a fleet takes one capacity block only.
fn of_one_capacity_block(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let is_block = |it: &Candidate<'_>| {
        it.offerings.iter().any(|it| reservation_kind(it) == Some(ReservationKind::CapacityBlock))
    };
    if !candidates.iter().any(is_block) {
        return candidates;
    }
    let key = |it: &Candidate<'_>| (it.price(), it.instance_type.name.clone());
    let mut cheapest: Vec<_> = candidates.into_iter().min_by_key(key).into_iter().collect();
    for candidate in &mut cheapest {
        candidate.offerings.sort_by_key(|offering| offering.price);
        candidate.offerings.truncate(1);
    }
    cheapest
}

/// The fourth: of several reservations of a type in a zone the one with most left.
fn of_fullest_reservations(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let is_reserved = |it: &Candidate<'_>| {
        it.offerings.iter().any(|offering| reservation_kind(offering).is_some())
    };
    if !candidates.iter().any(is_reserved) {
        return candidates;
    }
    for candidate in &mut candidates {
        let mut fullest: BTreeMap<&str, &Reservation> = BTreeMap::new();
        for offering in &candidate.offerings {
            let (Some(zone), Some(other)) = (value(offering, ZONE), &offering.reservation) else {
                continue;
            };
            let best = fullest.entry(zone).or_insert(other);
            if (other.remaining, &best.id) > (best.remaining, &other.id) {
                *best = other;
            }
        }
        let is_fullest = |it: &Reservation| fullest.values().any(|best| best.id == it.id);
        candidate.offerings.retain(|it| it.reservation.as_ref().is_some_and(is_fullest));
    }
    candidates.retain(|it| !it.offerings.is_empty());
    candidates
}

/// The fifth: bare metal and accelerators, which cost more and start later, only where there is
/// nothing else.
fn without_exotic(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let is_exotic = |it: &Candidate<'_>| {
        let capacity = &it.instance_type.capacity;
        let size = only_value(&it.instance_type.requirements, INSTANCE_SIZE);
        size.is_some_and(|size| size.contains("metal"))
            || EXOTIC.iter().any(|name| capacity.quantity(name) > Default::default())
    };
    match candidates.iter().all(is_exotic) {
        true => candidates,
        false => candidates.into_iter().filter(|it| !is_exotic(it)).collect(),
    }
}

/// The sixth: no spot that costs more than the cheapest on demand, where both can be had.
fn without_dear_spot(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let offerings = || candidates.iter().flat_map(|it| &it.offerings);
    let of = |capacity_type| {
        offerings().filter(move |it| value(it, CAPACITY_TYPE) == Some(capacity_type))
    };
    let has_spot = of(SPOT).next().is_some();
    let Some(limit) = of(ON_DEMAND).map(|it| it.price).min().filter(|_| has_spot) else {
        return candidates;
    };
    candidates.retain_mut(|it| {
        it.retain(|offering| {
            value(offering, CAPACITY_TYPE) != Some(SPOT) || offering.price <= limit
        })
    });
    candidates
}

fn has_min_values(launch: &Launch) -> bool {
    launch.claim.spec.node.requirements.iter().any(|entry| entry.min_values.is_some())
}

/// Whether enough different values are left; not asked where the claim was let off it.
fn keeps_min_values(
    launch: &Launch,
    left: &[Candidate<'_>],
    rules: &LabelRules,
) -> Result<bool, BadBound> {
    let is_let_off =
        launch.claim.annotations().get(MIN_VALUES_RELAXED).is_some_and(|it| it == "true");
    if !has_min_values(launch) || is_let_off {
        return Ok(true);
    }
    let mut vocabulary = Vocabulary::new();
    let mut read = |entries: &[RequirementEntry]| {
        Requirements::from_entries(entries, rules.normalization(), &mut vocabulary)
    };
    let asked = read(&launch.claim.spec.node.requirements)?;
    let types = left.iter().map(|it| read(&it.instance_type.requirements));
    let types: Vec<Requirements> = types.collect::<Result<_, _>>()?;
    Ok(review_min_values(&asked, &types).is_satisfied())
}

#[cfg(test)]
mod tests;
