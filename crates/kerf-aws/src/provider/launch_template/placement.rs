//! Where in a placement group instances go.

use aws_sdk_ec2::types::{LaunchTemplatePlacementRequest, Tenancy};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::aws::{PLACEMENT_GROUP_ID, PLACEMENT_GROUP_PARTITION};
use kerf_model::requirement::{Operator, RequirementEntry};

/// A place in a placement group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Placement {
    /// The group.
    pub(crate) group_id: String,
    /// The partition, where the claim asks for some; else EC2 chooses.
    pub(crate) partition: Option<i32>,
}

impl Placement {
    /// The place of a claim's instance of a type: of the partitions that the claim allows and that
    /// can be had, the one with the lowest number.
    pub(super) fn of(
        requirements: &[RequirementEntry],
        instance_type: &InstanceType,
    ) -> Option<Self> {
        let group_id = value_of(&instance_type.requirements, PLACEMENT_GROUP_ID)?.to_owned();
        let wanted: Vec<_> =
            requirements.iter().filter(|it| it.key == PLACEMENT_GROUP_PARTITION).collect();
        if wanted.is_empty() {
            return Some(Self { group_id, partition: None });
        }
        let available = instance_type.offerings.iter().filter(|offering| offering.available);
        let partitions =
            available.filter_map(|it| value_of(&it.requirements, PLACEMENT_GROUP_PARTITION));
        let is_allowed = |partition: &&str| {
            let one = RequirementEntry::new(PLACEMENT_GROUP_PARTITION, Operator::In, [*partition]);
            !wanted.iter().any(|wanted| wanted.rules_out(&one))
        };
        let numbers = partitions.filter(is_allowed).filter_map(|it| it.parse().ok());
        Some(Self { group_id, partition: numbers.min() })
    }
}

/// The placement of instances, their tenancy included.
pub(super) fn request(
    tenancy: &str,
    placement: Option<&Placement>,
) -> LaunchTemplatePlacementRequest {
    LaunchTemplatePlacementRequest::builder()
        .tenancy(Tenancy::from(tenancy))
        .set_group_id(placement.map(|placement| placement.group_id.clone()))
        .set_partition_number(placement.and_then(|placement| placement.partition))
        .build()
}

/// The one value of a label.
fn value_of<'e>(entries: &'e [RequirementEntry], key: &str) -> Option<&'e str> {
    let entry = entries.iter().find(|entry| entry.key == key && entry.operator == Operator::In)?;
    match entry.values.as_slice() {
        [value] => Some(value),
        _ => None,
    }
}
