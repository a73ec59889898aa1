//! What a launched instance is, in the engine's terms: labels, capacity, annotations.

use std::collections::BTreeMap;

use kerf_engine::action::Launch;
use kerf_engine::event::Instance;
use kerf_engine::observed::NodeClass;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::aws::{
    CAPACITY_RESERVATION_ID, CAPACITY_RESERVATION_INTERRUPTIBLE, CAPACITY_RESERVATION_TYPE,
    INSTANCE_TENANCY, PLACEMENT_GROUP_PARTITION, ZONE_ID,
};
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use kerf_model::requirement::{Operator, RequirementEntry};

use super::answer::Launched;
use super::candidate::value;
use super::capacity_type::tenancy;
use crate::provider::instances::instance::provider_id;
use crate::provider::instances::made_of;

/// The annotation of claims with the name of the instance profile.
pub(crate) const INSTANCE_PROFILE: &str = "karpenter.k8s.aws/instance-profile-name";
/// Annotations of a node class that its claims carry, too.
const HASHES: [&str; 2] =
    ["karpenter.k8s.aws/ec2nodeclass-hash", "karpenter.k8s.aws/ec2nodeclass-hash-version"];

/// Labels that say how an instance was bought: they come from the offering alone.
const OF_OFFERING: [&str; 7] = [
    ZONE,
    ZONE_ID,
    CAPACITY_TYPE,
    CAPACITY_RESERVATION_ID,
    CAPACITY_RESERVATION_TYPE,
    CAPACITY_RESERVATION_INTERRUPTIBLE,
    PLACEMENT_GROUP_PARTITION,
];

/// The instance that was launched for a claim, described by the types it was chosen from.
pub(crate) fn instance(launch: &Launch, types: &[InstanceType], launched: &Launched) -> Instance {
    let instance_type = types.iter().find(|it| it.name == launched.instance_type);
    let offering = instance_type.and_then(|it| offering(it, launched));
    let resources = instance_type.map(|it| {
        let mut capacity = (*it.capacity).clone();
        for (name, quantity) in offering.iter().flat_map(|it| it.capacity_override.iter()) {
            capacity.insert(name, quantity);
        }
        (
            capacity,
            offering.map_or_else(|| it.allocatable(), |offering| it.allocatable_of(offering)),
        )
    });
    let (capacity, allocatable) = resources.unwrap_or_default();
    Instance {
        provider_id: provider_id(&launched.zone, &launched.id),
        claim: Some(launch.claim.meta.name.clone()),
        image_id: Some(launched.image_id.clone()).filter(|id| !id.is_empty()),
        labels: labels(launch, instance_type, offering, launched),
        annotations: launch.node_class.as_deref().map(annotations).unwrap_or_default(),
        capacity,
        allocatable,
        made_of: made_of::of_launched(launched),
        is_ending: false,
    }
}

/// The offering an instance was bought by.
fn offering<'t>(instance_type: &'t InstanceType, launched: &Launched) -> Option<&'t Offering> {
    let is_bought = |offering: &&Offering| {
        value(offering, ZONE) == Some(&launched.zone)
            && value(offering, CAPACITY_TYPE) == Some(launched.purchase.capacity_type())
            && offering.reservation.as_ref().map(|it| &it.id) == launched.reservation.as_ref()
    };
    instance_type.offerings.iter().find(is_bought)
}

fn labels(
    launch: &Launch,
    instance_type: Option<&InstanceType>,
    offering: Option<&Offering>,
    launched: &Launched,
) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    let settled =
        |entry: &&RequirementEntry| entry.operator == Operator::In && entry.values.len() == 1;
    let of_type = instance_type.map(|it| &*it.requirements).unwrap_or_default();
    let of_type = of_type.iter().filter(|it| !OF_OFFERING.contains(&it.key.as_str()));
    let bought = offering.map(|it| &*it.requirements).unwrap_or_default();
    let bought = bought.iter().filter(|it| it.key != PLACEMENT_GROUP_PARTITION);
    for entry in of_type.chain(bought).filter(settled) {
        labels.insert(entry.key.clone(), entry.values[0].clone());
    }
    let partition = instance_type.and_then(|it| partition(it, launched));
    let fixed = [
        (INSTANCE_TYPE, Some(launched.instance_type.clone())),
        (ZONE, Some(launched.zone.clone())),
        (CAPACITY_TYPE, Some(launched.purchase.capacity_type().to_owned())),
        (INSTANCE_TENANCY, Some(tenancy(&launch.claim).to_owned())),
        (CAPACITY_RESERVATION_ID, launched.reservation.clone()),
        (PLACEMENT_GROUP_PARTITION, partition),
    ];
    labels.extend(fixed.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    labels
}

/// The partition of a placement group that has any: the one asked for, or nothing as long as EC2
/// has not told which it chose. Registration waits for that.
fn partition(instance_type: &InstanceType, launched: &Launched) -> Option<String> {
    let has_partitions = |entry: &RequirementEntry| {
        entry.key == PLACEMENT_GROUP_PARTITION && entry.operator == Operator::In
    };
    let partition = || launched.partition.map(|number| number.to_string()).unwrap_or_default();
    instance_type.requirements.iter().any(has_partitions).then(partition)
}

fn annotations(class: &NodeClass) -> BTreeMap<String, String> {
    let own = HASHES.iter().filter_map(|key| {
        let value = class.annotations.get(*key)?;
        Some(((*key).to_owned(), value.clone()))
    });
    let profile = class.status.resolved.get("instanceProfile").and_then(|it| it.as_str());
    let profile = profile.map(|name| (INSTANCE_PROFILE.to_owned(), name.to_owned()));
    own.chain(profile).collect()
}

#[cfg(test)]
mod tests;
