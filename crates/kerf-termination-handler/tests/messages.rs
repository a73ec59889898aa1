//! Every kind of message in every envelope, and what the handler makes of it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use jiff::Timestamp;
use kerf_aws::Described;
use kerf_engine::notice::NoticeKind;
use kerf_termination_handler::instance::{Standing, belongs_here, standing};
use kerf_termination_handler::kind::EventKind;
use kerf_termination_handler::message::{Announced, Message, understand};
use kerf_termination_handler::record::EventRecord;
use kerf_termination_handler::settings::{LogVersion, Poison, QueueSettings};
use serde_json::{Value, json};

const INSTANCE: &str = "i-0b662ef9931388ba0";
const ID: &str = "1e5527d7-bb36-4607-3370-4164db56a40e";
const TIME: &str = "2022-04-11T16:23:33Z";

fn now() -> Timestamp {
    "2026-11-17T12:00:00Z".parse().unwrap()
}

fn envelope(source: &str, detail_type: &str, detail: Value) -> Value {
    json!({"version": "0", "id": ID, "detail-type": detail_type, "source": source,
        "account": "123456789012", "time": TIME, "region": "ap-northeast-2",
        "resources": [format!("arn:aws:ec2:ap-northeast-2b:instance/{INSTANCE}")],
        "detail": detail})
}

fn of_ec2(detail_type: &str, state: &str) -> Value {
    let detail = json!({"instance-id": INSTANCE, "instance-action": "terminate", "state": state});
    envelope("aws.ec2", detail_type, detail)
}

fn hook(transition: &str) -> Value {
    json!({"LifecycleHookName": "hook", "AccountId": "123456789012", "RequestId": ID,
        "LifecycleTransition": format!("autoscaling:{transition}"),
        "AutoScalingGroupName": "group", "Service": "AWS Auto Scaling", "Time": TIME,
        "EC2InstanceId": INSTANCE, "LifecycleActionToken": "token"})
}

fn events(body: &Value) -> Vec<Announced> {
    match understand(&body.to_string(), now()) {
        Message::Events(events) => events,
        other => panic!("{other:?}: {body}"),
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn each_kind_is_read_from_each_envelope_with_its_id() {
    let spot = of_ec2("EC2 Spot Instance Interruption Warning", "");
    let terminating = hook("EC2_INSTANCE_TERMINATING");
    let launching = hook("EC2_INSTANCE_LAUNCHING");
    let terminate = "EC2 Instance-terminate Lifecycle Action";
    let launch = "EC2 Instance-launch Lifecycle Action";
    use EventKind as K;
    use NoticeKind as N;
    for (body, kind, notice, prefix) in [
        (spot.clone(), K::SpotItn, N::SpotInterrupted, "spot-itn-event-"),
        (json!({"Message": spot.to_string()}), K::SpotItn, N::SpotInterrupted, "spot-itn-event-"),
        (
            of_ec2("EC2 Capacity Reservation Instance Interruption Warning", ""),
            K::SpotItn,
            N::CapacityReservationInterrupted,
            "spot-itn-event-",
        ),
        (
            of_ec2("EC2 Instance Rebalance Recommendation", ""),
            K::RebalanceRecommendation,
            N::RebalanceRecommendation,
            "rebalance-recommendation-event-",
        ),
        (
            of_ec2("EC2 Instance State-change Notification", "Shutting-Down"),
            K::StateChange,
            N::InstanceTerminated,
            "ec2-state-change-event-",
        ),
        (
            envelope("aws.autoscaling", terminate, terminating.clone()),
            K::AsgLifecycle,
            N::LifecycleTermination,
            "asg-lifecycle-term-",
        ),
        (terminating.clone(), K::AsgLifecycle, N::LifecycleTermination, "asg-lifecycle-term-"),
        (
            json!({"Message": terminating.to_string()}),
            K::AsgLifecycle,
            N::LifecycleTermination,
            "asg-lifecycle-term-",
        ),
        (
            envelope("aws.autoscaling", launch, launching.clone()),
            K::AsgLaunchLifecycle,
            N::LifecycleLaunch,
            "asg-lifecycle-launch-",
        ),
        (launching, K::AsgLaunchLifecycle, N::LifecycleLaunch, "asg-lifecycle-launch-"),
    ] {
        let read = events(&body);
        let [event] = &read[..] else { panic!("{read:?}") };
        assert_eq!((event.kind, event.notice), (kind, notice), "{body}");
        assert_eq!(event.event_id, format!("{prefix}{}", hex(ID)), "{body}");
        assert_eq!((event.instance.as_str(), event.time), (INSTANCE, TIME.parse().unwrap()));
        let hook = event.hook.as_ref().map(|hook| (&*hook.group, &*hook.hook, &*hook.instance));
        let is_hook = matches!(kind, K::AsgLifecycle | K::AsgLaunchLifecycle);
        assert_eq!(hook, is_hook.then_some(("group", "hook", INSTANCE)), "{body}");
    }
}

#[test]
fn a_health_event_about_several_instances_is_several_events() {
    let entities = json!([{"entityValue": INSTANCE}, {"entityValue": "i-0b662ef9931388ba1"}]);
    let detail = json!({"service": "EC2", "eventTypeCategory": "scheduledChange",
        "affectedEntities": entities});
    let read = events(&envelope("aws.health", "AWS Health Event", detail));
    let ids: Vec<&str> = read.iter().map(|event| event.event_id.as_str()).collect();
    let prefix = format!("aws-health-scheduled-change-event-{}", hex(ID));
    assert_eq!(ids, [format!("{prefix}-{INSTANCE}"), format!("{prefix}-i-0b662ef9931388ba1")]);
}

#[test]
fn what_needs_no_reaction_and_what_nobody_can_read_are_told_apart() {
    let state = |state: &str| of_ec2("EC2 Instance State-change Notification", state);
    for body in [
        state("running"),
        state(""),
        json!({"Event": "autoscaling:TEST_NOTIFICATION", "AutoScalingGroupName": "group"}),
        json!({"LifecycleTransition": "autoscaling:TEST_NOTIFICATION"}),
        envelope("aws.s3", "Object Created", json!({})),
    ] {
        let read = understand(&body.to_string(), now());
        assert!(matches!(read, Message::Nothing(_)), "{read:?}: {body}");
    }
    let mut unnamed = hook("EC2_INSTANCE_TERMINATING");
    unnamed["AutoScalingGroupName"].take();
    for body in ["", "no JSON", "[]", &hook("EC2_INSTANCE_OTHER").to_string(), &unnamed.to_string()]
    {
        let read = understand(body, now());
        assert!(matches!(read, Message::Poison(_)), "{read:?}: {body}");
    }
}

#[test]
fn a_time_that_cannot_be_read_is_now() {
    let mut spot = of_ec2("EC2 Spot Instance Interruption Warning", "");
    spot["time"] = json!("yesterday");
    assert_eq!(events(&spot)[0].time, now());
}

fn described(tags: &[(&str, &str)]) -> Described {
    Described {
        id: INSTANCE.to_owned(),
        private_dns_name: "ip-10-0-0-1.ec2.internal".to_owned(),
        zone: "us-east-1a".to_owned(),
        instance_type: "m5.large".to_owned(),
        is_running: true,
        tags: tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
    }
}

fn settings(managed_tag: Option<&str>, cluster_name: Option<&str>) -> QueueSettings {
    QueueSettings {
        queue_url: String::new(),
        hidden_for: std::time::Duration::from_secs(20),
        managed_tag: managed_tag.map(str::to_owned),
        cluster_name: cluster_name.map(str::to_owned),
        finishes_without_node: false,
        hook_delay: std::time::Duration::ZERO,
        heartbeats: None,
        poison: Poison::Delete,
    }
}

#[test]
fn the_key_of_the_tag_decides_whose_an_instance_is_whatever_its_value() {
    let (tagged, bare) = (described(&[("mine", "no")]), described(&[]));
    let checked = settings(Some("mine"), None);
    assert_eq!(standing(&tagged, &checked), Standing::Managed);
    assert_eq!(standing(&bare, &checked), Standing::Unmanaged);
    assert_eq!(standing(&bare, &settings(None, None)), Standing::Managed);
    let gone = Described { private_dns_name: String::new(), is_running: false, ..tagged };
    assert_eq!(standing(&gone, &checked), Standing::Nameless);
}

#[test]
fn only_an_instance_that_is_provably_ours_lets_its_group_go_on_without_a_node() {
    let ours = ["kubernetes.io/cluster/demo", "aws:eks:cluster-name", "eks:eks-cluster-name"];
    for (tags, tag, cluster, belongs) in [
        (vec![("mine", "")], Some("mine"), None, true),
        (vec![("mine", "")], None, None, false),
        (vec![(ours[0], "owned")], None, Some("demo"), true),
        (vec![(ours[1], "demo")], None, Some("demo"), true),
        (vec![(ours[2], "demo")], None, Some("demo"), true),
        (
            vec![(ours[1], "other"), ("kubernetes.io/cluster/other", "owned")],
            None,
            Some("demo"),
            false,
        ),
        (vec![(ours[1], "demo")], None, None, false),
    ] {
        let verdict = belongs_here(&described(&tags), &settings(tag, cluster));
        assert_eq!(verdict, belongs, "{tags:?} {tag:?} {cluster:?}");
    }
}

#[test]
fn a_record_has_the_fields_of_old_and_both_log_formats() {
    let event = &events(&of_ec2("EC2 Spot Instance Interruption Warning", ""))[0];
    let of = described(&[("aws:autoscaling:groupName", "group")]);
    let record = EventRecord::of(event, &of, now());
    let expected = json!({
        "EventID": format!("spot-itn-event-{}", hex(ID)), "Kind": "SPOT_ITN",
        "Monitor": "SQS_MONITOR", "State": "", "AutoScalingGroupName": "group",
        "Description":
            format!("Spot Interruption notice for instance {INSTANCE} was sent at \
                     2022-04-11 16:23:33 +0000 UTC"),
        "NodeName": "ip-10-0-0-1.ec2.internal", "NodeLabels": null, "Pods": null,
        "InstanceID": INSTANCE, "ProviderID": format!("aws:///us-east-1a/{INSTANCE}"),
        "InstanceType": "m5.large", "IsManaged": true, "StartTime": TIME,
        "EndTime": "0001-01-01T00:00:00Z", "NodeProcessed": false, "InProgress": false,
    });
    assert_eq!(serde_json::to_value(&record).unwrap(), expected);
    assert_eq!(record.logged(event, LogVersion::Two), record);
    let old = record.logged(event, LogVersion::One);
    assert_eq!(old.kind, "SQS_TERMINATE");
    let said = "Spot Interruption event received. Instance i-0b662ef9931388ba0 will be interrupted \
                at 2022-04-11 16:23:33 +0000 UTC";
    assert_eq!(old.description, said);
}
