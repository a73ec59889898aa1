//! The guide of older versions, followed literally: two events for one instance within a second.

use crate::account::{self, Queue, rebalance, spot};
use crate::cluster::{apply, daemon_pod, get, has_pod, is_cordoned, is_ready, node, pod};
use crate::process::Handler;

/// What the values file of the guide becomes; the tag check is switched off under its old name.
const GUIDE: [(&str, &str); 5] = [
    ("AWS_REGION", "us-east-1"),
    ("CHECK_ASG_TAG_BEFORE_DRAINING", "false"),
    ("ASSUME_ASG_TAG_PROPAGATION", "true"),
    ("ENABLE_SPOT_INTERRUPTION_DRAINING", "true"),
    ("NAMESPACE", "kube-system"),
];

/// The lines the guide shows after the start, in their order.
const STARTED: [&str; 5] = [
    "INF Starting to serve handler /healthz, port ",
    "INF Started watching for interruption events\n",
    "INF Kubernetes AWS Node Termination Handler has started successfully!\n",
    "INF Started watching for event cancellations\n",
    "INF Started monitoring for events event_type=SQS_TERMINATE\n",
];

#[test]
fn a_recommendation_and_a_warning_within_a_second_are_one_drain_and_two_events() {
    let queue = Queue::new("guide");
    let instance = account::instances(1, &[]).remove(0);
    let name = &instance.dns_name;
    apply(&[
        node(name, &instance),
        pod("guide-a", name),
        pod("guide-b", name),
        daemon_pod("guide-agent", name),
    ]);
    let handler = Handler::start(&queue, &GUIDE);
    handler.wait_said(STARTED[4], 1);
    let log = handler.log();
    let places: Vec<_> = STARTED.iter().map(|line| log.find(line)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{log}");
    assert!(log.contains("INF Using log format version 1\n"), "{log}");
    assert!(handler.healthz().ends_with(r#"{"health":"OK"}"#), "{}", handler.healthz());
    handler.wait("the node is ready", || is_ready(name));

    queue.send(&[rebalance(&instance.id), spot(&instance.id)]);
    handler.wait_said("INF Node successfully cordoned and drained ", 2);
    handler.wait("both messages are deleted", || queue.depth() == 0);

    assert!(is_cordoned(name) && is_ready(name), "Ready,SchedulingDisabled");
    assert_eq!(
        [has_pod("guide-a"), has_pod("guide-b"), has_pod("guide-agent")],
        [false, false, true]
    );
    let log = handler.log();
    let id = &instance.id;
    for (line, times) in [
        ("INF Adding new event to the event store event={\"AutoScalingGroupName\":\"\",", 2),
        (&format!("\"InstanceID\":\"{id}\""), 2),
        ("\"Kind\":\"SQS_TERMINATE\"", 2),
        ("INF Requesting instance drain event-id=", 2),
        (&format!(" kind=SQS_TERMINATE node-name={name} provider-id=aws:///us-east-1a/{id}"), 2),
        (&format!("INF Pods on node node_name={name} pod_names=["), 2),
        (&format!("INF Draining the node node_name={name}\n"), 1),
        ("INF evicting pod default/guide-a\n", 1),
        ("INF evicting pod default/guide-b\n", 1),
        ("evicting pod default/guide-agent", 0),
        (
            &format!(
                "INF Node successfully cordoned and drained node_name={name} \
                 reason=\"Rebalance recommendation event received. Instance {id} will be cordoned at "
            ),
            1,
        ),
        (
            &format!(
                "reason=\"Spot Interruption event received. Instance {id} will be interrupted at "
            ),
            1,
        ),
        ("event-id=spot-itn-event-3165", 1),
        ("event-id=rebalance-recommendation-event-3165", 1),
    ] {
        assert_eq!(handler.said(line), times, "{line}\n{log}");
    }
    let scope = r#"otel_scope_name="aws.node.termination.handler""#;
    let counted = format!(
        "actions_total{{node_action=\"cordon-and-drain\",node_status=\"success\",{scope}}} 2"
    );
    assert!(handler.metrics().contains(&counted), "{}", handler.metrics());
    assert!(!handler.metrics().contains("actions_node_total"), "it has no bound");
    let taints = get("node", name, "{.spec.taints[*].key}");
    assert!(!taints.contains("aws-node-termination-handler"), "nobody asked for {taints}");
    assert!(handler.end());
}
