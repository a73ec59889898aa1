//! What makes an instance of a node class drift.
//!
//! The rules tell by what an instance is made of, which whoever describes instances fills in
//! (`Instance.made_of`), by reason:
//!
//! | Reason | What it is made of |
//! |---|---|
//! | `AMIDrift` | the id of its image |
//! | `SecurityGroupDrift` | the ids of all security groups of its primary interface |
//! | `SubnetDrift` | the id of its subnet |
//! | `CapacityReservationDrift` | the id of the reservation it runs in; nothing outside of one |
//! | `PlacementGroupDrift` | the id of its placement group; nothing outside of one |
//!
//! The image must be the one that the class would pick now for the instance's type. The rule knows
//! the type by its labels: architecture and operating system, and the counts of GPUs and
//! accelerators must be in `Instance.labels` where the type has them. An instance without
//! `kubernetes.io/arch` fits no image, and so never counts as drifted.
//!
//! A part of which nothing is known (nothing was found, or nobody could ask) has no rule.

use std::collections::BTreeSet;

use kerf_api::Requirement;
use kerf_api::ec2_node_class::{Ami, EC2NodeClassStatus};
use kerf_engine::provider::{Allowed, Choice, DriftRule};
use kerf_model::labels::well_known::WINDOWS_BUILD;
use kerf_model::requirement::{Operator, RequirementEntry};

/// Made of another image than a new instance of its type would be.
pub(crate) const AMI_DRIFT: &str = "AMIDrift";
/// Has other security groups.
pub(crate) const SECURITY_GROUP_DRIFT: &str = "SecurityGroupDrift";
/// Is in a subnet that is no longer selected.
pub(crate) const SUBNET_DRIFT: &str = "SubnetDrift";
/// Runs in a reservation that is no longer selected.
pub(crate) const CAPACITY_RESERVATION_DRIFT: &str = "CapacityReservationDrift";
/// Is in another placement group, or in none.
pub(crate) const PLACEMENT_GROUP_DRIFT: &str = "PlacementGroupDrift";

/// The placement group of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupId<'a> {
    /// The class asks for none.
    None,
    /// The one it asks for.
    Is(&'a str),
    /// It asks for one, and nobody knows which that is.
    Unknown,
}

/// The rules of a class, in the order in which drift is looked for.
pub(super) fn of(
    status: &EC2NodeClassStatus,
    group: GroupId<'_>,
    knows_reservations: bool,
) -> Vec<DriftRule> {
    let rule = |reason: &str, allowed| DriftRule { reason: reason.to_owned(), allowed };
    let mut rules = Vec::new();
    if let Some(amis) = some(status.amis.as_deref()) {
        let choices = amis.iter().filter_map(choice).collect();
        rules.push(rule(AMI_DRIFT, Allowed::FirstFit(choices)));
    }
    if let Some(groups) = some(status.security_groups.as_deref()) {
        let ids = groups.iter().map(|group| group.id.clone()).collect();
        rules.push(rule(SECURITY_GROUP_DRIFT, Allowed::AllOf(ids)));
    }
    if let Some(subnets) = some(status.subnets.as_deref()) {
        let ids = subnets.iter().map(|subnet| subnet.id.clone()).collect();
        rules.push(rule(SUBNET_DRIFT, Allowed::SomeOf(ids)));
    }
    if knows_reservations {
        let reservations = status.capacity_reservations.iter().flatten();
        let ids = reservations.map(|reservation| reservation.id.clone()).collect();
        rules.push(rule(CAPACITY_RESERVATION_DRIFT, Allowed::SomeOf(ids)));
    }
    let group: Option<BTreeSet<String>> = match group {
        GroupId::None => Some(BTreeSet::new()),
        GroupId::Is(id) => Some(BTreeSet::from([id.to_owned()])),
        GroupId::Unknown => None,
    };
    rules.extend(group.map(|group| rule(PLACEMENT_GROUP_DRIFT, Allowed::AllOf(group))));
    rules
}

fn some<T>(list: Option<&[T]>) -> Option<&[T]> {
    list.filter(|list| !list.is_empty())
}

/// An image with requirements that cannot be read is never the one. The build of Windows is left
/// out: EC2 does not tell it of an instance, and all images of a class have the same.
fn choice(ami: &Ami) -> Option<Choice> {
    let told = ami.requirements.iter().filter(|it| it.key != WINDOWS_BUILD);
    let requirements = told.map(entry).collect::<Option<_>>()?;
    Some(Choice { requirements, value: ami.id.clone() })
}

/// A requirement of the status in the engine's words.
fn entry(requirement: &Requirement) -> Option<RequirementEntry> {
    let operator: Operator = requirement.operator.parse().ok()?;
    let values = requirement.values.iter().flatten().map(String::as_str);
    Some(RequirementEntry::new(&requirement.key, operator, values))
}

#[cfg(test)]
mod tests {
    use kerf_api::ec2_node_class::{SecurityGroup, Subnet};

    use super::*;

    fn set(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn a_class_that_was_resolved_has_a_rule_for_each_part_in_the_order_of_drift() {
        let arch = Requirement {
            key: "kubernetes.io/arch".to_owned(),
            operator: "In".to_owned(),
            values: Some(vec!["arm64".to_owned()]),
            min_values: None,
        };
        let unreadable = Requirement { operator: "About".to_owned(), ..arch.clone() };
        let build = Requirement { key: WINDOWS_BUILD.to_owned(), ..arch.clone() };
        let ami = |id: &str, requirement: &Requirement| Ami {
            id: id.to_owned(),
            requirements: vec![requirement.clone(), build.clone()],
            ..Ami::default()
        };
        let status = EC2NodeClassStatus {
            amis: Some(vec![ami("ami-1", &arch), ami("ami-2", &unreadable)]),
            security_groups: Some(vec![SecurityGroup { id: "sg-1".to_owned(), name: None }]),
            subnets: Some(vec![Subnet { id: "subnet-1".to_owned(), ..Subnet::default() }]),
            ..EC2NodeClassStatus::default()
        };
        let rules = of(&status, GroupId::Is("pg-1"), true);
        let image = Choice {
            requirements: vec![RequirementEntry::new(&arch.key, Operator::In, ["arm64"])],
            value: "ami-1".to_owned(),
        };
        let expected = [
            (AMI_DRIFT, Allowed::FirstFit(vec![image])),
            (SECURITY_GROUP_DRIFT, Allowed::AllOf(set(&["sg-1"]))),
            (SUBNET_DRIFT, Allowed::SomeOf(set(&["subnet-1"]))),
            (CAPACITY_RESERVATION_DRIFT, Allowed::SomeOf(set(&[]))),
            (PLACEMENT_GROUP_DRIFT, Allowed::AllOf(set(&["pg-1"]))),
        ];
        let expected =
            expected.map(|(reason, allowed)| DriftRule { reason: reason.to_owned(), allowed });
        assert_eq!(rules, expected);
    }

    #[test]
    fn nothing_drifts_from_what_is_not_known() {
        let status = EC2NodeClassStatus { subnets: Some(Vec::new()), ..Default::default() };
        assert_eq!(of(&status, GroupId::Unknown, false), []);
        let outside = of(&status, GroupId::None, false);
        assert_eq!(outside[0].allowed, Allowed::AllOf(set(&[])), "in no group is known, too");
    }
}
