//! What is allowed is what is called, and nothing more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::*;

const NAMES: Names<'_> = Names {
    partition: "aws",
    region: "eu-west-1",
    account: "123456789012",
    cluster: "demo",
    node_role: "KarpenterNodeRole-demo",
    queue: "demo",
};

/// The statements that allow something, by permission.
fn granted() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut granted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for statement in STATEMENTS {
        for permission in statement.permissions {
            granted.entry(permission.name()).or_default().push(statement.sid);
        }
    }
    granted
}

#[test]
fn every_call_is_allowed_by_the_statements_it_needs() {
    let read = "AllowRegionalReadActions";
    let expected = |action: AwsAction| -> Vec<&'static str> {
        match action {
            AwsAction::CreateFleet | AwsAction::RunInstances => vec![
                "AllowScopedEC2InstanceAccessActions",
                "AllowScopedEC2LaunchTemplateAccessActions",
                "AllowScopedEC2InstanceActionsWithTags",
            ],
            AwsAction::CreateLaunchTemplate => vec!["AllowScopedEC2InstanceActionsWithTags"],
            AwsAction::CreateTags => {
                vec!["AllowScopedResourceCreationTagging", "AllowScopedResourceTagging"]
            }
            AwsAction::DeleteLaunchTemplate | AwsAction::TerminateInstances => {
                vec!["AllowScopedDeletion"]
            }
            AwsAction::DescribeCluster => vec!["AllowAPIServerEndpointDiscovery"],
            AwsAction::GetParameter => vec!["AllowSSMReadActions"],
            AwsAction::GetProducts => vec!["AllowPricingReadActions"],
            AwsAction::GetInstanceProfile => vec!["AllowInstanceProfileReadActions"],
            AwsAction::ListInstanceProfiles => vec!["AllowUnscopedInstanceProfileListAction"],
            AwsAction::CreateInstanceProfile => vec!["AllowScopedInstanceProfileCreationActions"],
            AwsAction::AddRoleToInstanceProfile
            | AwsAction::RemoveRoleFromInstanceProfile
            | AwsAction::DeleteInstanceProfile => vec!["AllowScopedInstanceProfileActions"],
            AwsAction::DeleteMessage | AwsAction::GetQueueUrl | AwsAction::ReceiveMessage => {
                vec!["AllowInterruptionQueueActions"]
            }
            AwsAction::GetManagedResource => vec!["AllowZonalShiftStatusReadOnly"],
            AwsAction::DescribeAvailabilityZones => vec!["AllowZoneReadActions"],
            AwsAction::DescribeCapacityReservations
            | AwsAction::DescribeImages
            | AwsAction::DescribeInstances
            | AwsAction::DescribeInstanceStatus
            | AwsAction::DescribeInstanceTypeOfferings
            | AwsAction::DescribeInstanceTypes
            | AwsAction::DescribeLaunchTemplates
            | AwsAction::DescribePlacementGroups
            | AwsAction::DescribeSecurityGroups
            | AwsAction::DescribeSpotPriceHistory
            | AwsAction::DescribeSubnets => vec![read],
        }
    };
    let granted = granted();
    for action in AwsAction::ALL {
        let by = granted.get(action.permission()).cloned().unwrap_or_default();
        assert_eq!(by, expected(*action), "{}", action.permission());
    }
}

#[test]
fn nothing_is_allowed_that_no_call_needs() {
    let called: BTreeSet<&str> = AwsAction::ALL.iter().map(|action| action.permission()).collect();
    let granted: BTreeSet<&str> = granted().into_keys().collect();
    let more: Vec<&str> = granted.difference(&called).copied().collect();
    // A role is passed to instances, and a profile is tagged while it is made.
    assert_eq!(more, ["iam:PassRole", "iam:TagInstanceProfile"]);
}

#[test]
fn what_changes_something_is_bound_to_the_cluster() {
    let is_read = |permission: &Permission| {
        let (_, name) = permission.name().split_once(':').unwrap();
        name.starts_with("Describe") || name.starts_with("Get") || name.starts_with("List")
    };
    for statement in STATEMENTS.iter().filter(|it| !it.permissions.iter().all(is_read)) {
        let of_cluster = |text: &&str| text.contains("{cluster}") || text.contains("{queue}");
        let keys = statement.conditions.iter().map(|it| it.key);
        let values = statement.conditions.iter().flat_map(|it| it.values.iter().copied());
        let is_bound = keys.chain(values).chain(statement.resources.iter().copied());
        let is_bound = is_bound.into_iter().any(|text| of_cluster(&text));
        // What a launch uses and does not make belongs to others; a role is passed by its name.
        let is_used = ["AllowScopedEC2InstanceAccessActions", "AllowPassingInstanceRole"];
        assert!(is_bound || is_used.contains(&statement.sid), "{}", statement.sid);
        assert!(!statement.resources.contains(&"*"), "{}", statement.sid);
    }
}

#[test]
fn sids_are_unique_and_every_policy_has_statements() {
    let sids: BTreeSet<&str> = STATEMENTS.iter().map(|it| it.sid).collect();
    assert_eq!(sids.len(), STATEMENTS.len());
    for policy in Policy::ALL {
        assert!(STATEMENTS.iter().any(|it| it.policy == policy), "{policy:?}");
    }
    let name = Policy::IamIntegration.name("demo");
    assert_eq!(name, "KarpenterControllerIAMIntegrationPolicy-demo");
}

#[test]
fn a_policy_is_written_as_iam_takes_it() {
    assert_eq!(
        document(Policy::ZonalShift, &NAMES),
        json!({
            "Version": "2012-10-17",
            "Statement": [{
                "Sid": "AllowZonalShiftStatusReadOnly",
                "Effect": "Allow",
                "Action": ["arc-zonal-shift:GetManagedResource"],
                "Resource": "*",
                "Condition": {"StringEquals": {
                    "arc-zonal-shift:ResourceIdentifier":
                        "arn:aws:eks:eu-west-1:123456789012:cluster/demo",
                }},
            }, {
                "Sid": "AllowZoneReadActions",
                "Effect": "Allow",
                "Action": ["ec2:DescribeAvailabilityZones"],
                "Resource": "*",
                "Condition": {"StringEquals": {"aws:RequestedRegion": "eu-west-1"}},
            }],
        })
    );
    let lifecycle = document(Policy::NodeLifecycle, &NAMES);
    let tagging = &lifecycle["Statement"][4];
    assert_eq!(
        tagging["Condition"],
        json!({
            "StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/demo": "owned"},
            "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"},
            "StringEqualsIfExists": {"aws:RequestTag/eks:eks-cluster-name": "demo"},
            "ForAllValues:StringEquals": {
                "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"],
            },
        })
    );
}

#[test]
fn documents_have_no_placeholder_left_and_fit_into_a_managed_policy() {
    const CHARACTERS_MAX: usize = 6_144;
    for policy in Policy::ALL {
        let text = document(policy, &NAMES).to_string();
        assert!(!text.contains("{cluster}") && !text.contains("{region}"), "{text}");
        assert!(text.len() <= CHARACTERS_MAX, "{policy:?} has {}", text.len());
    }
    let template = Names { cluster: "${ClusterName}", ..NAMES };
    let text = document(Policy::NodeLifecycle, &template).to_string();
    assert!(text.contains("aws:ResourceTag/kubernetes.io/cluster/${ClusterName}"), "{text}");
}
