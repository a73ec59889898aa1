//! Which of the instances a claim allows it gets: the cheapest.

use kerf_engine::event::Failure;
use kerf_engine::observed::Claim;
use kerf_model::hash::fnv1a;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::LabelRules;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;

/// An instance that can be had.
pub(crate) struct Choice<'a> {
    pub(crate) instance_type: &'a InstanceType,
    pub(crate) offering: &'a Offering,
}

/// The cheapest instance the claim allows. Equals are told apart by the claim's uid, so the same
/// claim always gets the same.
pub(crate) fn choose<'a>(
    claim: &Claim,
    types: &'a [InstanceType],
    rules: &LabelRules,
) -> Result<Choice<'a>, Failure> {
    let names = named_types(claim)?;
    let mut vocabulary = Vocabulary::new();
    let mut read = |entries: &[RequirementEntry]| {
        Requirements::from_entries(entries, rules.normalization(), &mut vocabulary)
            .map_err(|error| Failure::Invalid { message: error.to_string() })
    };
    let wanted = read(&claim.spec.node.requirements)?;
    let mut fitting = Vec::new();
    for instance_type in types.iter().filter(|it| names.contains(&it.name)) {
        let own = read(&instance_type.requirements)?;
        for offering in instance_type.offerings.iter().filter(|offering| offering.available) {
            fitting.push((own.clone(), read(&offering.requirements)?, instance_type, offering));
        }
    }
    fitting.retain(|(own, sold, instance_type, offering)| {
        own.intersects(&wanted, &vocabulary)
            && sold.intersects(&wanted, &vocabulary)
            && claim.spec.requests.fits(&instance_type.allocatable_of(offering))
    });
    let cheapest = fitting.iter().map(|(.., offering)| offering.price).min();
    fitting.retain(|(.., offering)| Some(offering.price) == cheapest);
    if fitting.is_empty() {
        let message = "no available machine meets the requirements of the claim".to_owned();
        return Err(Failure::InsufficientCapacity { message });
    }
    let count = u64::try_from(fitting.len()).unwrap_or(1);
    let index = usize::try_from(fnv1a(claim.meta.uid.as_bytes()) % count).unwrap_or_default();
    let (.., instance_type, offering) = fitting.swap_remove(index);
    Ok(Choice { instance_type, offering })
}

/// The types the claim names. Without any it would be guesswork.
fn named_types(claim: &Claim) -> Result<&[String], Failure> {
    let entries = &claim.spec.node.requirements;
    let entry = entries.iter().find(|it| it.key == INSTANCE_TYPE && it.operator == Operator::In);
    entry.map(|entry| entry.values.as_slice()).ok_or_else(|| Failure::LaunchRefused {
        reason: "InstanceTypeMissing".to_owned(),
        message: format!("spec.requirements: {INSTANCE_TYPE} In [...] is needed to launch"),
    })
}
