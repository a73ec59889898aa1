//! Capacity that was reserved, and other things around instances that moto lacks.

use serde_json::json;

use crate::account::{Account, between, ids};

#[test]
fn a_reservation_counts_down_with_a_launch_and_up_with_an_end() {
    let account = Account::open();
    account.aws.set(&json!({"terminate_seconds": 0}));
    let asked = json!({"id": "cr-1", "instance_type": "m5.large", "zone": "us-east-1a", "count": 1,
        "tags": {"team": "blue"}});
    account.aws.control("POST reservations", &asked);
    let target = "&LaunchTemplateData.CapacityReservationSpecification";
    account.template(
        "nodes",
        &format!(
            "{target}.CapacityReservationPreference=capacity-reservations-only\
             {target}.CapacityReservationTarget.CapacityReservationId=cr-1"
        ),
    );
    let left = || {
        let filter = "&Filter.1.Name=tag:team&Filter.1.Value.1=blue";
        let answer = account.ec2(&format!("Action=DescribeCapacityReservations{filter}"));
        between(&answer, "<availableInstanceCount>", "<").to_owned()
    };
    assert_eq!(left(), "1");
    let answer = account.fleet("on-demand", &[("m5.large", "a")], "");
    let id = ids(&answer).remove(0);
    assert_eq!(left(), "0");
    let described = account.describe(&id);
    assert!(
        described.contains("<capacityReservationId>cr-1</capacityReservationId>"),
        "{described}"
    );
    let full = account.fleet("on-demand", &[("m5.large", "a")], "");
    assert_eq!(between(&full, "<errorCode>", "<"), "ReservationCapacityExceeded", "{full}");
    account.ec2(&format!("Action=TerminateInstances&InstanceId.1={id}"));
    assert_eq!(left(), "1");

    account.aws.control("POST reservations/end", &json!({"id": "cr-1"}));
    let gone = account.refused("Action=DescribeCapacityReservations&CapacityReservationId.1=cr-1");
    assert!(gone.contains("InvalidCapacityReservationId.NotFound"), "{gone}");
}

#[test]
fn capacity_blocks_and_interruptible_reservations_say_what_they_are() {
    let account = Account::open();
    let block = json!({"id": "cr-2", "instance_type": "p5.48xlarge", "zone": "us-east-1a",
        "type": "capacity-block", "end": "2027-01-01T00:00:00.000Z"});
    account.aws.control("POST reservations", &block);
    let lent = json!({"id": "cr-3", "instance_type": "m5.large", "zone": "us-east-1a",
        "interruptible": true});
    account.aws.control("POST reservations", &lent);
    let answer = account.ec2("Action=DescribeCapacityReservations");
    for part in [
        "<reservationType>capacity-block</reservationType>",
        "<endDate>2027-01-01T00:00:00.000Z</endDate>",
        "<interruptible>true</interruptible>",
    ] {
        assert!(answer.contains(part), "{part} is missing in {answer}");
    }
}

#[test]
fn placement_groups_and_profiles_are_found_by_what_they_are_asked_for() {
    let account = Account::open();
    let made = account
        .ec2("Action=CreatePlacementGroup&GroupName=near&Strategy=partition&PartitionCount=3");
    let id = between(&made, "<groupId>", "<").to_owned();
    let found = account.ec2(&format!("Action=DescribePlacementGroups&GroupId.1={id}"));
    assert!(found.contains("<groupName>near</groupName>"), "{found}");
    assert!(found.contains("<partitionCount>3</partitionCount>"), "{found}");
    let unknown = account.refused("Action=DescribePlacementGroups&GroupName.1=far");
    assert!(unknown.contains("InvalidPlacementGroup.Unknown"), "{unknown}");

    let iam = |call: &str| account.aws.query("iam", &format!("Action={call}&Version=2010-05-08"));
    iam("CreateInstanceProfile&InstanceProfileName=foreign&Path=/elsewhere/");
    let below = iam("ListInstanceProfiles&PathPrefix=/karpenter/");
    assert!(below.contains("nodes") && !below.contains("foreign"), "{below}");

    let entry =
        json!({"principalArn": "arn:aws:iam::123456789012:role/nodes", "type": "EC2_LINUX"});
    account.aws.call("eks", "POST /clusters/demo/access-entries", &entry);
    let entries = account.aws.call("eks", "GET /clusters/demo/access-entries", &json!({}));
    assert_eq!(entries["accessEntries"], json!([entry["principalArn"]]), "{entries}");
}

#[test]
fn a_subnet_says_what_instances_are_named_after() {
    let account = Account::open();
    account.template("nodes", "");
    let name = || {
        let id = ids(&account.fleet("spot", &[("m5.large", "a")], "")).remove(0);
        let described = account.describe(&id);
        (id, between(&described, "<privateDnsName>", "<").to_owned())
    };
    let (_, before) = name();
    assert!(before.starts_with("ip-"), "{before}");
    let subnet = account.subnet("a");
    account.ec2(&format!(
        "Action=ModifySubnetAttribute&SubnetId={subnet}\
         &PrivateDnsHostnameTypeOnLaunch=resource-name"
    ));
    let (id, after) = name();
    assert_eq!(after, format!("{id}.ec2.internal"));
    let subnets = account.ec2(&format!("Action=DescribeSubnets&SubnetId.1={subnet}"));
    assert!(subnets.contains("<hostnameType>resource-name</hostnameType>"), "{subnets}");
}

#[test]
fn lifecycle_actions_are_taken_for_hooks_that_there_are_and_roles_have_managed_policies() {
    let account = Account::open();
    account.template("nodes", "");
    let group = "AutoScalingGroupName=pool&Version=2011-01-01";
    let scaling = |call: &str| account.aws.query("autoscaling", &format!("Action={call}&{group}"));
    scaling(
        "CreateAutoScalingGroup&MinSize=0&MaxSize=1&AvailabilityZones.member.1=us-east-1a\
         &LaunchTemplate.LaunchTemplateName=nodes&LaunchTemplate.Version=1",
    );
    let hook = "LifecycleHookName=drain&LifecycleTransition=autoscaling:EC2_INSTANCE_TERMINATING";
    scaling(&format!("PutLifecycleHook&{hook}"));
    let of_hook = "LifecycleHookName=drain&InstanceId=i-1";
    scaling(&format!("RecordLifecycleActionHeartbeat&{of_hook}"));
    scaling(&format!("CompleteLifecycleAction&{of_hook}&LifecycleActionResult=CONTINUE"));
    let unknown = format!("Action=CompleteLifecycleAction&LifecycleHookName=other&{group}");
    let refused = account.aws.refusal("autoscaling", "POST /", &unknown);
    assert!(refused.contains("No active Lifecycle Action found"), "{refused}");

    let policy = "PolicyArn=arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy";
    let role = &account.made.role;
    let attach = format!("Action=AttachRolePolicy&RoleName={role}&{policy}&Version=2010-05-08");
    account.aws.query("iam", &attach);
}
