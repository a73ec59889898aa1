//! What becomes of instances, and who hears of it.

use std::time::Duration;

use kerf_testbed::wait_until;
use serde_json::json;

use crate::account::{Account, ids};

/// A second in the stand-in; the machine may be busy.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn an_instance_ends_in_steps_and_each_is_announced() {
    let account = Account::open();
    account.template("nodes", "");
    account.aws.set(&json!({"event_queue": account.made.queue, "terminate_seconds": 3600}));
    let id = ids(&account.fleet("spot", &[("m5.large", "a")], "")).remove(0);
    let end = format!("Action=TerminateInstances&InstanceId.1={id}");
    assert!(account.ec2(&end).contains("<name>shutting-down</name>"));
    assert_eq!(account.state(&id), "shutting-down", "it stays that way for an hour");
    assert!(account.ec2(&end).contains(&id), "ending twice is no mistake");

    account.aws.set(&json!({"terminate_seconds": 0}));
    let other = ids(&account.fleet("spot", &[("m5.large", "a")], "")).remove(0);
    account.ec2(&format!("Action=TerminateInstances&InstanceId.1={other}"));
    assert_eq!(account.state(&other), "terminated");

    let messages = account.messages();
    let told = |id: &str| -> Vec<String> {
        let about = messages.iter().filter(|one| one["detail"]["instance-id"] == id);
        about.map(|one| one["detail"]["state"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(told(&id), ["pending", "running", "shutting-down"]);
    assert_eq!(told(&other), ["pending", "running", "shutting-down", "terminated"]);
    assert_eq!(messages[0]["detail-type"], "EC2 Instance State-change Notification");
    assert_eq!(messages[0]["source"], "aws.ec2");
}

#[test]
fn an_instance_that_ends_is_gone_after_a_while_and_its_address_does_not_come_back_at_once() {
    let account = Account::open();
    account.template("nodes", "");
    let launch = || {
        let id = ids(&account.fleet("spot", &[("m5.large", "a")], "")).remove(0);
        let described = account.describe(&id);
        let name = crate::account::between(&described, "<privateDnsName>", "<").to_owned();
        (id, name)
    };
    let (id, name) = launch();
    assert!(name.starts_with("ip-172-31-") && name.ends_with(".ec2.internal"), "{name}");
    account.ec2(&format!("Action=TerminateInstances&InstanceId.1={id}"));
    assert!(wait_until(SOON, || account.state(&id) == "terminated"));
    assert_ne!(launch().1, name);

    let run = account.ec2("Action=RunInstances&ImageId=ami-12c6146b&MinCount=1&MaxCount=1");
    let id = crate::account::between(&run, "<instanceId>", "<").to_owned();
    assert_eq!(account.state(&id), "running", "moto's own instances live and end alike");
    account.ec2(&format!("Action=TerminateInstances&InstanceId.1={id}"));
    assert!(wait_until(SOON, || account.state(&id) == "terminated"));
}

#[test]
fn a_new_instance_can_be_unknown_for_a_while_and_an_id_may_come_twice() {
    let account = Account::open();
    account.template("nodes", "");
    account.aws.set(&json!({"describe_lag_seconds": 3600, "pending_seconds": 3600}));
    let id = ids(&account.fleet("spot", &[("m5.large", "a")], "")).remove(0);
    let refused = account.refused(&format!("Action=DescribeInstances&InstanceId.1={id}"));
    assert!(refused.contains("InvalidInstanceID.NotFound"), "{refused}");
    let by_tag = "Action=DescribeInstances&Filter.1.Name=tag-key&Filter.1.Value.1=pool";
    assert!(!account.ec2(by_tag).contains(&id));

    account.aws.set(&json!({"describe_lag_seconds": 0}));
    assert!(account.ec2(by_tag).contains(&id));
    assert_eq!(account.state(&id), "pending");
    let twice =
        account.ec2(&format!("Action=DescribeInstances&InstanceId.1={id}&InstanceId.2={id}"));
    assert_eq!(twice.matches("<instanceId>").count(), 1, "{twice}");
    let running = "&Filter.1.Name=instance-state-name&Filter.1.Value.1=running";
    assert!(!account.ec2(&format!("Action=DescribeInstances{running}")).contains(&id));
}

#[test]
fn a_status_that_a_test_sets_is_found_by_every_filter() {
    let account = Account::open();
    account.template("nodes", "");
    let two = "&TargetCapacitySpecification.TotalTargetCapacity=2";
    let made = ids(&account.fleet("spot", &[("m5.large", "a")], two));
    let status = json!({"instance_id": made[0], "system": "impaired", "impaired_seconds": 300,
        "events": ["instance-retirement"]});
    account.aws.control("POST instances/status", &status);
    let found = |name: &str, value: &str| {
        let filter = format!("&Filter.1.Name={name}&Filter.1.Value.1={value}");
        account.ec2(&format!("Action=DescribeInstanceStatus{filter}"))
    };
    for (name, value) in
        [("system-status.status", "impaired"), ("event.code", "instance-retirement")]
    {
        let answer = found(name, value);
        assert!(answer.contains(&made[0]) && !answer.contains(&made[1]), "{name}: {answer}");
        assert!(answer.contains("<impairedSince>"), "{answer}");
    }
    let well = found("instance-status.status", "impaired");
    assert!(!well.contains("<instanceId>"), "{well}");
}

#[test]
fn what_aws_announces_reaches_the_queue_in_its_shape() {
    let account = Account::open();
    account.aws.set(&json!({"event_queue": account.made.queue}));
    let kinds = [
        ("spot", "EC2 Spot Instance Interruption Warning"),
        ("rebalance", "EC2 Instance Rebalance Recommendation"),
        ("reservation", "EC2 Capacity Reservation Instance Interruption Warning"),
        ("scheduled", "AWS Health Event"),
    ];
    for (kind, _) in kinds {
        let notice = json!({"kind": kind, "instance_ids": ["i-1", "i-2"]});
        account.aws.control("POST announce", &notice);
    }
    let messages = account.messages();
    for (kind, detail_type) in kinds {
        let told = messages.iter().filter(|one| one["detail-type"] == detail_type);
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), if kind == "scheduled" { 1 } else { 2 }, "{kind}: {messages:?}");
    }
    assert_eq!(
        messages[0]["detail"],
        json!({"instance-id": "i-1", "instance-action": "terminate"})
    );
    let health = messages.iter().find(|one| one["source"] == "aws.health").unwrap();
    assert_eq!(health["detail"]["affectedEntities"][1]["entityValue"], "i-2");
}
