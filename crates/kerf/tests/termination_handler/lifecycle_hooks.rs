//! Auto Scaling groups that wait: for a drain before an instance ends, for a node before it is used.

use serde_json::json;

use crate::account::{self, MANAGED, Queue, group_with_hook, notification};
use crate::cluster::{apply, get, has_pod, is_cordoned, is_ready, node, pod};
use crate::process::Handler;

const GROUP: &str = "workers";
const HOOK: &str = "before-the-end";

#[test]
fn hooks_are_completed_after_the_drain_and_once_a_new_node_is_ready() {
    let queue = Queue::new("hooks");
    group_with_hook(GROUP, HOOK);
    let instances = account::instances(3, &[(MANAGED, "")]);
    let [going, coming, gone] = &instances[..] else { panic!("three were asked for") };
    // A node's name says nothing about its instance here.
    apply(&[node("hooks-going", going), pod("hooks-pod", "hooks-going")]);
    let env = [("AWS_REGION", "us-east-1"), ("TAINT_NODE", "true"), ("LOG_FORMAT_VERSION", "2")];
    let handler = Handler::start(&queue, &env);
    handler.wait_said("INF Started monitoring for events monitor_type=SQS_MONITOR\n", 1);

    // Straight from the group, and wrapped by SNS; the group's own test of the queue does nothing.
    let ends = notification(GROUP, HOOK, "TERMINATING", &going.id);
    let wrapped = json!({"Message": ends.to_string()});
    let test = json!({"Event": "autoscaling:TEST_NOTIFICATION", "AutoScalingGroupName": GROUP});
    queue.send(&[wrapped.to_string(), test.to_string()]);
    handler.wait_said("INF Completed ASG Lifecycle Hook ", 1);
    assert!(is_cordoned("hooks-going") && !has_pod("hooks-pod"));
    // The API server taints new nodes by itself.
    let taints = get("node", "hooks-going", "{range .spec.taints[*]}{.key}={.effect} {end}");
    let taint = "aws-node-termination-handler/asg-lifecycle-termination=NoSchedule ";
    assert!(taints.contains(taint), "{taints}");
    assert_eq!(handler.said(&format!("instanceID={} lifecycleHookName={HOOK}", going.id)), 1);
    assert_eq!(handler.said(" kind=ASG_LIFECYCLE monitor=SQS_MONITOR node-name="), 1);

    // Nothing has to be drained where there is no node, and the tag says that it belongs here.
    queue.send(&[notification(GROUP, HOOK, "TERMINATING", &gone.id).to_string()]);
    handler.wait_said("INF Completed ASG Lifecycle Hook ", 2);

    // A launched instance is waited for until its node is ready; the message comes again.
    queue.send(&[notification(GROUP, HOOK, "LAUNCHING", &coming.id).to_string()]);
    let waiting = "INF Waiting for node to be ready before completing ASG launch lifecycle ";
    handler.wait_said(waiting, 1);
    assert_eq!(handler.said("INF Completed ASG Lifecycle Hook "), 2);
    apply(&[node("hooks-coming", coming)]);
    handler.wait("the node is ready", || is_ready("hooks-coming"));
    handler.wait_said("INF Completed ASG Lifecycle Hook ", 3);
    handler.wait("all messages are deleted", || queue.depth() == 0);
    assert!(!is_cordoned("hooks-coming"));
    assert_eq!(handler.said("INF Completed ASG Lifecycle Hook "), 3);
    assert!(handler.end());
}
