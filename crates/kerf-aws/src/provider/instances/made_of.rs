//! What an instance is made of, by the reason it has drifted for once its class selects otherwise.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::types::Instance;

use super::instance::reservation;
use crate::provider::launch::answer::Launched;
use crate::provider::node_class::drift_rules::{
    AMI_DRIFT, CAPACITY_RESERVATION_DRIFT, PLACEMENT_GROUP_DRIFT, SECURITY_GROUP_DRIFT,
    SUBNET_DRIFT,
};

/// Ids by the reason of drift.
pub(crate) type MadeOf = BTreeMap<String, BTreeSet<String>>;

/// What EC2 says an instance is made of. Nothing known is not the same as nothing there: a reason
/// without an id is left out, but for the placement group, which is known to be none.
pub(crate) fn of_described(instance: &Instance) -> MadeOf {
    let groups = instance.security_groups().iter().filter_map(|it| it.group_id());
    let group = instance.placement().and_then(|it| it.group_id()).filter(|it| !it.is_empty());
    let mut made_of = known([
        (AMI_DRIFT, ids(instance.image_id())),
        (SECURITY_GROUP_DRIFT, ids(groups)),
        (SUBNET_DRIFT, ids(instance.subnet_id())),
        (CAPACITY_RESERVATION_DRIFT, ids(reservation(instance))),
    ]);
    made_of.insert(PLACEMENT_GROUP_DRIFT.to_owned(), ids(group));
    made_of
}

/// What is known of an instance that was just launched.
pub(crate) fn of_launched(launched: &Launched) -> MadeOf {
    known([
        (AMI_DRIFT, ids([launched.image_id.as_str()])),
        (SUBNET_DRIFT, ids([launched.subnet.as_str()])),
        (CAPACITY_RESERVATION_DRIFT, ids(launched.reservation.as_deref())),
    ])
}

fn known<const N: usize>(parts: [(&str, BTreeSet<String>); N]) -> MadeOf {
    let parts = parts.into_iter().filter(|(_, ids)| !ids.is_empty());
    parts.map(|(reason, ids)| (reason.to_owned(), ids)).collect()
}

fn ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    ids.into_iter().filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::{
        CapacityReservationSpecificationResponse, GroupIdentifier, Placement,
    };

    use super::*;

    fn lines(made_of: &MadeOf) -> Vec<String> {
        let ids = |ids: &BTreeSet<String>| ids.iter().cloned().collect::<Vec<_>>().join(",");
        made_of.iter().map(|(reason, it)| format!("{reason}={}", ids(it))).collect()
    }

    #[test]
    fn every_part_of_an_instance_is_told_by_its_reason() {
        let group = |id: &str| GroupIdentifier::builder().group_id(id).build();
        let instance = Instance::builder()
            .image_id("ami-1")
            .subnet_id("subnet-1")
            .security_groups(group("sg-2"))
            .security_groups(group("sg-1"))
            .capacity_reservation_id("cr-1")
            .capacity_reservation_specification(
                CapacityReservationSpecificationResponse::builder()
                    .capacity_reservation_preference("capacity-reservations-only".into())
                    .build(),
            )
            .placement(Placement::builder().group_id("pg-1").build())
            .build();
        assert_eq!(
            lines(&of_described(&instance)),
            [
                "AMIDrift=ami-1",
                "CapacityReservationDrift=cr-1",
                "PlacementGroupDrift=pg-1",
                "SecurityGroupDrift=sg-1,sg-2",
                "SubnetDrift=subnet-1",
            ]
        );
        let bare = Instance::builder().image_id("ami-1").build();
        assert_eq!(
            lines(&of_described(&bare)),
            ["AMIDrift=ami-1", "PlacementGroupDrift="],
            "being in no group is known, having no security groups is not"
        );
    }
}
