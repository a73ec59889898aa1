//! The mode that asks the metadata service of the instance it runs on.

use kerf_testbed::{ImdsFault, ImdsStandIn};
use serde_json::json;

use crate::account::Instance;
use crate::cluster::{apply, daemon_pod, get, has_pod, is_cordoned, node, pod};
use crate::process::Handler;

const SPOT: &str = "spot/instance-action";
const REBALANCE: &str = "events/recommendations/rebalance";
const MAINTENANCE: &str = "events/maintenance/scheduled";
const TARGET_STATE: &str = "autoscaling/target-lifecycle-state";

/// A node with two pods, one of them a DaemonSet's, and its instance's metadata service.
fn node_with_pods(name: &str) -> ImdsStandIn {
    let id = format!("i-{name}");
    let instance = Instance { id: id.clone(), dns_name: name.to_owned() };
    apply(&[
        node(name, &instance),
        pod(&format!("{name}-pod"), name),
        daemon_pod(&format!("{name}-agent"), name),
    ]);
    ImdsStandIn::start(&id).unwrap()
}

fn has_pods(name: &str) -> (bool, bool) {
    (has_pod(&format!("{name}-pod")), has_pod(&format!("{name}-agent")))
}

/// An interruption two minutes from now, as the service words it.
fn interruption() -> String {
    let at = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + 110).unwrap();
    json!({"action": "terminate", "time": at.to_string()}).to_string()
}

fn reboot(id: &str, state: &str) -> String {
    json!([{"NotBefore": "21 Jan 2027 09:00:43 GMT", "Code": "system-reboot",
        "Description": "scheduled reboot", "EventId": id, "NotAfter": "21 Jan 2027 09:17:23 GMT",
        "State": state}])
    .to_string()
}

#[test]
fn a_spot_notice_drains_the_own_node_once_and_no_other() {
    let imds = node_with_pods("imds-spot");
    let _other = node_with_pods("imds-other");
    let handler = Handler::on_node("imds-spot", &imds, &[("TAINT_NODE", "true")]);
    // The last line of the start.
    handler.wait_said("INF Started monitoring for events event_type=SCHEDULED_EVENT_MONITOR\n", 1);
    for line in [
        "INF Startup Metadata Retrieved metadata={\"accountId\":\"123456789012\",",
        "\"instanceId\":\"i-imds-spot\",\"instanceLifeCycle\":\"spot\"",
        "INF Started monitoring for events event_type=SPOT_ITN_MONITOR\n",
        "INF Started watching for event cancellations\n",
    ] {
        assert_eq!(handler.said(line), 1, "{line}\n{}", handler.log());
    }
    assert_eq!(handler.said("REBALANCE_RECOMMENDATION_MONITOR"), 0, "it is off by default");

    imds.set(SPOT, &interruption());
    handler.wait_said("INF Node successfully cordoned and drained node_name=imds-spot reason=", 1);
    assert!(is_cordoned("imds-spot"));
    assert_eq!(has_pods("imds-spot"), (false, true));
    let taints = get("node", "imds-spot", "{.spec.taints[*].key}");
    assert!(taints.contains("aws-node-termination-handler/spot-itn"), "{taints}");
    assert!(!is_cordoned("imds-other"));
    assert_eq!(has_pods("imds-other"), (true, true));

    // The service says the same again and again.
    let asked = imds.asked(SPOT);
    handler.wait("it asks on", || imds.asked(SPOT) >= asked + 2);
    assert_eq!(handler.said("Adding new event to the event store"), 1);
    assert_eq!(handler.said("\"Kind\":\"SPOT_ITN\",\"Monitor\":\"SPOT_ITN_MONITOR\""), 1);
    assert!(handler.end());
}

#[test]
fn maintenance_closes_the_node_until_it_is_called_off_or_the_reboot_is_over() {
    let imds = node_with_pods("imds-maintenance");
    let name = "imds-maintenance";
    let file = std::env::temp_dir().join(format!("kerf-uptime-{}", std::process::id()));
    std::fs::write(&file, "9999999.25 1.00\n").unwrap();
    let uptime = file.to_str().unwrap();
    let env = [
        ("TAINT_NODE", "true"),
        ("UPTIME_FROM_FILE", uptime),
        ("EXCLUDE_FROM_LOAD_BALANCERS", "true"),
        ("ENABLE_OUT_OF_SERVICE_TAINT", "true"),
    ];
    let labels = || get("node", name, "{.metadata.labels}");
    let taints = || get("node", name, "{.spec.taints[*].key}");
    let drained = "INF Node successfully cordoned and drained ";
    let first = Handler::on_node(name, &imds, &env);
    imds.set(MAINTENANCE, &reboot("event-1", "active"));
    first.wait_said(drained, 1);
    first.wait("the node is out of service", || taints().contains("out-of-service"));
    assert_eq!(has_pods(name), (false, true));
    assert!(taints().contains("aws-node-termination-handler/scheduled-maintenance"));
    for mark in [
        r#""aws-node-termination-handler/event-id":"event-1""#,
        r#""aws-node-termination-handler/action":"UncordonAfterReboot""#,
        r#""aws-node-termination-handler/action-time":""#,
        r#""node.kubernetes.io/exclude-from-external-load-balancers":"aws-node-term"#,
    ] {
        assert!(labels().contains(mark), "{mark}: {}", labels());
    }

    imds.set(MAINTENANCE, &reboot("event-1", "canceled"));
    first.wait_said("INF Node successfully uncordoned node_name=imds-maintenance ", 1);
    let is_clean = || {
        let (labels, taints) = (labels(), taints());
        let marks = ["aws-node-termination-handler", "out-of-service", "exclude-from"];
        !is_cordoned(name) && !marks.iter().any(|it| labels.contains(it) || taints.contains(it))
    };
    assert!(is_clean(), "{} {}", labels(), taints());

    // The next one happens: the node comes back with a process that knows nothing of it.
    imds.set(MAINTENANCE, &reboot("event-2", "active"));
    first.wait_said(drained, 2);
    first.kill();
    std::fs::write(&file, "0.01 0.01\n").unwrap();
    let second = Handler::on_node(name, &imds, &env);
    second.wait_said("INF Node successfully uncordoned node_name=imds-maintenance ", 1);
    assert!(is_clean(), "{} {}", labels(), taints());
    // What the service still says of it is over.
    let asked = imds.asked(MAINTENANCE);
    second.wait("it asks on", || imds.asked(MAINTENANCE) >= asked + 2);
    assert_eq!(second.said("Adding new event to the event store"), 0);
    assert!(!is_cordoned(name) && second.end());
    let _ = std::fs::remove_file(file);
}

#[test]
fn the_metadata_service_may_fail_and_forget_tokens_and_nothing_is_lost() {
    let imds = node_with_pods("imds-outage");
    let env = [
        ("ENABLE_REBALANCE_MONITORING", "true"),
        ("ENABLE_ASG_LIFECYCLE_DRAINING", "true"),
        ("ENABLE_SPOT_INTERRUPTION_DRAINING", "false"),
        ("METADATA_TRIES", "1"),
        ("LOG_FORMAT_VERSION", "2"),
    ];
    let handler = Handler::on_node("imds-outage", &imds, &env);
    handler.wait_said("INF Started monitoring for events monitor_type=ASG_LIFECYCLE_MONITOR\n", 1);
    imds.fail(Some(ImdsFault::Status));
    let failed = "events_error_total{event_error_where=\"REBALANCE_RECOMMENDATION_MONITOR\"";
    handler.wait("errors are counted", || handler.metrics().contains(failed));
    imds.fail(Some(ImdsFault::Silence));
    imds.forget_tokens();
    imds.set(REBALANCE, r#"{"noticeTime": "2026-11-17T12:00:00Z"}"#);
    imds.fail(None);
    // A recommendation closes the node and leaves its pods, unless more is asked for.
    handler.wait_said("INF Node successfully cordoned node_name=imds-outage ", 1);
    assert!(is_cordoned("imds-outage"));
    assert_eq!(has_pods("imds-outage"), (true, true));

    imds.set(TARGET_STATE, "Terminated");
    handler.wait_said("INF Node successfully cordoned and drained node_name=imds-outage ", 1);
    assert_eq!(has_pods("imds-outage"), (false, true));
    let asked = imds.asked(TARGET_STATE);
    handler.wait("it asks on", || imds.asked(TARGET_STATE) >= asked + 2);
    assert_eq!(handler.said("Adding new event to the event store"), 2);
    assert_eq!(handler.said(" kind=ASG_LIFECYCLE monitor=ASG_LIFECYCLE_MONITOR node-name="), 1);
    assert_eq!(imds.asked(SPOT), 0, "nobody asked for it");
    assert!(handler.end());
}
