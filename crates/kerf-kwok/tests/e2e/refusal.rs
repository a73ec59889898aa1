//! What cannot be served is said, and stops nobody else.

use std::time::Duration;

use k8s_openapi::api::core::v1::Event;
use serde_json::json;

use crate::cluster::Cluster;
use crate::manifest::{deployment, pod, pool};

/// Long enough for a pass with default batching, twice over.
const A_WHILE: Duration = Duration::from_secs(4);

#[test]
fn a_pod_that_asks_for_a_device_nobody_sells_is_told_why_it_waits() {
    let cluster = Cluster::of("gpu");
    let gpu = json!({ "containers": [{
        "name": "pause", "image": "registry.k8s.io/pause:3.10",
        "resources": { "limits": { "nvidia.com/gpu": "1" } },
    }]});
    cluster.apply(&[
        pool(cluster.name, json!({})),
        pod(cluster.name, "wants-gpu", gpu),
        pod(cluster.name, "modest", json!({})),
    ]);
    cluster.wait("the pod that can be served is", || cluster.ready_pods() == 1);
    // Until its own pool is seen to be ready, the pod is told about the other tests' pools only.
    cluster.wait("the other is told why not", || {
        let news = cluster.events(cluster.name, "wants-gpu", "FailedScheduling");
        news.iter().any(|event| is_ours(event) && says(event, "nvidia.com/gpu"))
    });
    assert_eq!(cluster.claims().len(), 1);
}

/// Whether Kerf says it; kube-scheduler has Events of the same reason.
fn is_ours(event: &Event) -> bool {
    event.source.as_ref().and_then(|source| source.component.as_deref()) == Some("karpenter")
}

fn says(event: &Event, words: &str) -> bool {
    event.message.as_ref().is_some_and(|message| message.contains(words))
}

#[test]
fn a_pool_at_its_limit_makes_no_more_nodes() {
    let cluster = Cluster::of("limit");
    let limit = json!({ "limits": { "cpu": "4" } });
    cluster.apply(&[pool(cluster.name, limit), deployment(cluster.name, "many", 10, json!({}))]);
    // Of four processors pods can use a little less.
    cluster.wait("three pods are ready", || cluster.ready_pods() == 3);
    cluster.stays("no more than three pods run", A_WHILE, || cluster.ready_pods() == 3);
    let pods = cluster.pods();
    let waiting = pods.iter().find(|pod| pod.spec.as_ref().unwrap().node_name.is_none()).unwrap();
    let name = waiting.metadata.name.as_deref().unwrap();
    cluster.wait("those that wait are told why", || {
        let news = cluster.events(cluster.name, name, "FailedScheduling");
        news.iter().any(|event| says(event, "limit"))
    });
    cluster.wait("the pool counts its nodes", || {
        let nodes = cluster.pool().status.and_then(|status| status.nodes);
        nodes == i64::try_from(cluster.nodes().len()).ok()
    });
}

/// The reason of one of the pool's conditions.
fn reason(cluster: &Cluster, kind: &str) -> Option<String> {
    let conditions = cluster.pool().status?.conditions?;
    conditions.into_iter().find(|it| it.type_ == kind).map(|it| it.reason)
}

#[test]
fn a_pool_without_its_node_class_waits_for_it() {
    let cluster = Cluster::of("no-class");
    let class = json!({ "template": { "spec": { "nodeClassRef": { "name": "to-come" } } } });
    cluster.apply(&[pool(cluster.name, class), pod(cluster.name, "patient", json!({}))]);
    cluster.wait("the pool says what is missing", || {
        reason(&cluster, "NodeClassReady").as_deref() == Some("NodeClassNotFound")
    });
    cluster.stays("nothing is made", A_WHILE, || cluster.claims().is_empty());
    cluster.apply(&[json!({
        "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": { "name": "to-come" }, "spec": {},
    })]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    assert_eq!(reason(&cluster, "NodeClassReady").as_deref(), Some("NodeClassReady"));
}

#[test]
fn a_pool_whose_node_class_is_not_ready_says_what_the_class_says() {
    let cluster = Cluster::of("class-not-ready");
    let say = |status: &str, reason: &str| {
        let condition = json!({ "status": { "conditions": [{
            "type": "Ready", "status": status, "reason": reason, "message": "as the test has it",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }]}});
        cluster.kubectl(&[
            "patch",
            "kwoknodeclass",
            "moody",
            "--subresource=status",
            "--type=merge",
            &format!("--patch={condition}"),
        ]);
    };
    cluster.apply(&[json!({
        "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": { "name": "moody" }, "spec": {},
    })]);
    say("False", "SubnetsNotFound");
    let class = json!({ "template": { "spec": { "nodeClassRef": { "name": "moody" } } } });
    cluster.apply(&[pool(cluster.name, class), pod(cluster.name, "patient", json!({}))]);
    cluster.wait("the pool says what the class says", || {
        reason(&cluster, "NodeClassReady").as_deref() == Some("SubnetsNotFound")
    });
    cluster.stays("nothing is made", A_WHILE, || cluster.claims().is_empty());
    say("True", "Ready");
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
}
