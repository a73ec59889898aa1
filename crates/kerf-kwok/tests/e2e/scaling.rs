//! Pods come and go, and nodes with them.

use std::time::Duration;

use serde_json::json;

use crate::cluster::Cluster;
use crate::manifest::{deployment, pod, pool};

#[test]
fn one_pod_gets_one_node_and_the_node_goes_when_its_claim_is_deleted() {
    let cluster = Cluster::of("one-pod");
    cluster.apply(&[pool(cluster.name, json!({})), pod(cluster.name, "only", json!({}))]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    assert_eq!(cluster.claims().len(), 1);
    assert_eq!(cluster.nodes().len(), 1);
    cluster.kubectl(&["delete", "pod", "only"]);
    cluster.kubectl(&[
        "delete",
        "nodeclaim",
        "--selector=karpenter.sh/nodepool=one-pod",
        "--wait=false",
    ]);
    cluster.wait("node and claim are gone", || {
        cluster.nodes().is_empty() && cluster.claims().is_empty()
    });
}

#[test]
fn inflate_grows_to_ten_and_shrinks_to_nothing_once_its_nodes_are_empty_for_half_a_minute() {
    let cluster = Cluster::of("inflate");
    let quiet = json!({ "disruption": {
        "consolidateAfter": "30s", "consolidationPolicy": "WhenEmpty",
        "budgets": [{ "nodes": "100%" }],
    }});
    let inflate = deployment(cluster.name, "inflate", 0, json!({}));
    cluster.apply(&[pool(cluster.name, quiet), inflate]);
    cluster.kubectl(&["scale", "deployment", "inflate", "--replicas=10"]);
    cluster.wait("ten pods are ready", || cluster.ready_pods() == 10);
    assert!(!cluster.nodes().is_empty());
    cluster.kubectl(&["scale", "deployment", "inflate", "--replicas=0"]);
    cluster.wait("the pods are gone", || cluster.pods().is_empty());
    let nodes = cluster.nodes().len();
    let quiet = Duration::from_secs(25);
    cluster.stays("the nodes are quiet for a while", quiet, || cluster.nodes().len() == nodes);
    cluster.wait("every node and claim is gone", || {
        cluster.nodes().is_empty() && cluster.claims().is_empty()
    });
}
