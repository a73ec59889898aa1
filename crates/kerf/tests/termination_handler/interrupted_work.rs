//! Drains that take longer than they may, processes that end in the middle, and several of them.

use serde_json::{Value, json};

use crate::account::{self, MANAGED, Queue, group_with_hook, notification, spot};
use crate::cluster::{apply, cluster, has_pod, is_cordoned, node, pod};
use crate::process::Handler;

const REGION: (&str, &str) = ("AWS_REGION", "us-east-1");
const GROUP: &str = "slow-workers";
const HOOK: &str = "slow-end";

/// A pod that nobody may evict while its budget is there.
fn guarded_pod(name: &str, node: &str) -> [Value; 2] {
    let mut pod = pod(name, node);
    pod["metadata"]["labels"] = json!({"app": name});
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": name}}}});
    [pod, budget]
}

#[test]
fn a_drain_over_its_time_and_a_killed_handler_leave_the_hook_to_whoever_finishes() {
    let queue = Queue::new("slow");
    group_with_hook(GROUP, HOOK);
    let instance = account::instances(1, &[(MANAGED, "")]).remove(0);
    let [guarded, budget] = guarded_pod("slow-pod", "slow-node");
    apply(&[node("slow-node", &instance), budget, guarded]);
    let env =
        [REGION, ("NODE_TERMINATION_GRACE_PERIOD", "2"), ("SQS_MSG_VISIBILITY_TIMEOUT_SEC", "2")];
    let first = Handler::start(&queue, &env);
    first.wait_said("Started monitoring for events", 1);
    queue.send(&[notification(GROUP, HOOK, "TERMINATING", &instance.id).to_string()]);
    let failed = r#"actions_total{node_action="cordon-and-drain",node_status="error","#;
    first.wait("the drain is over its time", || first.metrics().contains(failed));
    assert!(is_cordoned("slow-node") && has_pod("slow-pod"));
    // It is tried again when the message comes again.
    first.wait_said("Requesting instance drain", 2);
    assert_eq!((queue.depth(), first.said("Completed ASG Lifecycle Hook")), (1, 0));
    first.kill();

    cluster().kubectl(&["delete", "pdb", "slow-pod"]).unwrap();
    let second = Handler::start(&queue, &env);
    second.wait_said(&format!("Completed ASG Lifecycle Hook instanceID={}", instance.id), 1);
    second.wait("the message is deleted", || queue.depth() == 0);
    assert!(!has_pod("slow-pod"));
    assert!(second.end());
}

#[test]
fn of_several_replicas_one_drains_and_another_takes_its_place() {
    let queue = Queue::new("replicas");
    let instances = account::instances(2, &[(MANAGED, "")]);
    for (number, instance) in instances.iter().enumerate() {
        let name = format!("replicas-{number}");
        apply(&[node(&name, instance), pod(&name, &name)]);
    }
    // Another namespace than the other tests: there is one Lease for each.
    let env = [REGION, ("NAMESPACE", "default"), ("LOG_FORMAT_VERSION", "7")];
    let administrator = cluster().kubeconfig();
    let start = || Handler::start_at(administrator, &queue, &env);
    let first = start();
    first.wait_said("Started monitoring for events monitor_type=SQS_MONITOR", 1);
    let second = start();
    second.wait_said("Started watching for interruption events", 1);
    queue.send(&[spot(&instances[0].id)]);
    first.wait_said("Node successfully cordoned and drained node_name=replicas-0", 1);
    assert_eq!(second.said("Started monitoring for events"), 0);
    assert!(first.end());
    second.wait_said("Started monitoring for events", 1);
    queue.send(&[spot(&instances[1].id)]);
    second.wait_said("Node successfully cordoned and drained node_name=replicas-1", 1);
    second.wait("both messages are deleted", || queue.depth() == 0);
    assert_eq!(second.said("node_name=replicas-0"), 0);
    assert!(second.end());
}
