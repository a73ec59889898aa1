//! Nodes go: drained in order, respecting whoever may not leave, and leave nothing behind.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Cluster, names};
use crate::manifest::{daemon_set, deployment, merge, pod, pool};

/// Long enough for a drain that ought to wait to give itself away.
const A_WHILE: Duration = Duration::from_secs(8);

/// The same where it happens more than once in a test.
const A_MOMENT: Duration = Duration::from_secs(3);

const PROTECTED: &str = "karpenter.sh/do-not-disrupt";

fn never_allows(cluster: &Cluster, app: &str) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": { "name": "never", "namespace": cluster.name },
        "spec": { "maxUnavailable": 0, "selector": { "matchLabels": { "app": app } } },
    })
}

fn annotated(mut pod: Value, key: &str, value: &str) -> Value {
    merge(&mut pod, json!({ "metadata": { "annotations": { key: value } } }));
    pod
}

fn delete(cluster: &Cluster, kind: &str) {
    let of_pool = format!("--selector=karpenter.sh/nodepool={}", cluster.name);
    cluster.kubectl(&["delete", kind, &of_pool, "--wait=false"]);
}

/// Whether these claims and their nodes are gone. Pods on a node that goes are given another before
/// they leave, so there may be newer ones.
fn is_gone(cluster: &Cluster, former: &[String]) -> bool {
    let (claims, nodes) = (names(&cluster.claims()), names(&cluster.nodes()));
    former.iter().all(|claim| {
        !claims.contains(claim) && !nodes.iter().any(|node| node.contains(claim.as_str()))
    })
}

#[test]
fn deleting_a_node_drains_ordinary_pods_before_critical_ones_and_takes_its_claim_along() {
    let cluster = Cluster::of("tiers");
    let critical = json!({ "priorityClassName": "system-cluster-critical" });
    cluster.apply(&[
        never_allows(&cluster, "ordinary"),
        pool(cluster.name, json!({})),
        pod(cluster.name, "ordinary", json!({})),
        pod(cluster.name, "critical", critical),
    ]);
    cluster.wait("both pods are ready", || cluster.ready_pods() == 2);
    let (former, nodes) = (names(&cluster.claims()), names(&cluster.nodes()));
    assert_eq!(nodes.len(), 1, "two pods of one processor each belong on one node: {nodes:?}");
    delete(&cluster, "node");
    cluster.stays("the critical pod waits for the ordinary one", A_WHILE, || {
        cluster.pods().len() == 2
    });
    let news = || cluster.events("default", &nodes[0], "FailedDraining");
    cluster.wait("the node says why it stays", || !news().is_empty());
    cluster.kubectl(&["delete", "poddisruptionbudget", "never"]);
    cluster.wait("pods, node and claim are gone", || {
        cluster.pods().is_empty() && is_gone(&cluster, &former)
    });
}

#[test]
fn daemons_leave_after_the_pods_of_their_tier_and_critical_ones_last() {
    let cluster = Cluster::of("daemon-tiers");
    let critical = json!({ "priorityClassName": "system-cluster-critical" });
    let held = |pod: Value| annotated(pod, PROTECTED, "true");
    cluster.apply(&[
        pool(cluster.name, json!({})),
        daemon_set(cluster.name, "daemon", json!({})),
        daemon_set(cluster.name, "critical-daemon", critical.clone()),
        held(pod(cluster.name, "ordinary", json!({}))),
        held(pod(cluster.name, "critical", critical)),
    ]);
    cluster.wait("all four pods are ready", || cluster.ready_pods() == 4);
    let former = names(&cluster.claims());
    delete(&cluster, "node");
    let order = ["ordinary", "daemon", "critical", "critical-daemon"];
    for (index, app) in order.iter().enumerate() {
        let left = order.len() - index;
        cluster.stays("the others wait for this tier", A_MOMENT, || cluster.pods().len() == left);
        let of_app = format!("--selector=app={app}");
        cluster.kubectl(&["annotate", "pod", &of_app, &format!("{PROTECTED}-")]);
        cluster.wait("its pod is gone", || cluster.pods().len() < left);
        assert!(
            cluster.pods().iter().all(|pod| pod.metadata.labels.as_ref().unwrap()["app"] != *app)
        );
    }
    cluster.wait("node and claim are gone", || is_gone(&cluster, &former));
}

#[test]
fn deleting_a_claim_moves_its_pods_to_another_node() {
    let cluster = Cluster::of("moving");
    cluster.apply(&[pool(cluster.name, json!({})), deployment(cluster.name, "web", 2, json!({}))]);
    cluster.wait("the pods are ready", || cluster.ready_pods() == 2);
    let former = names(&cluster.claims());
    delete(&cluster, "nodeclaim");
    cluster.wait("the former claim and its node are gone", || is_gone(&cluster, &former));
    cluster.wait("the pods are ready elsewhere", || cluster.ready_pods() == 2);
}

#[test]
fn a_pod_that_must_not_be_disrupted_holds_its_node_until_it_may() {
    let cluster = Cluster::of("protected");
    let guarded = pod(cluster.name, "guarded", json!({}));
    cluster.apply(&[pool(cluster.name, json!({})), annotated(guarded, PROTECTED, "true")]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let former = names(&cluster.claims());
    delete(&cluster, "nodeclaim");
    cluster.stays("the pod keeps its node", A_WHILE, || cluster.ready_pods() == 1);
    cluster.kubectl(&["annotate", "pod", "guarded", &format!("{PROTECTED}-")]);
    cluster.wait("pod, node and claim are gone", || {
        cluster.pods().is_empty() && is_gone(&cluster, &former)
    });
}

#[test]
fn a_budget_that_never_allows_holds_a_node_until_it_is_gone() {
    let cluster = Cluster::of("budget");
    cluster.apply(&[
        never_allows(&cluster, "held"),
        pool(cluster.name, json!({})),
        pod(cluster.name, "held", json!({})),
    ]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let former = names(&cluster.claims());
    delete(&cluster, "nodeclaim");
    cluster.stays("the pod keeps its node", A_WHILE, || cluster.ready_pods() == 1);
    cluster.kubectl(&["delete", "poddisruptionbudget", "never"]);
    cluster.wait("pod, node and claim are gone", || {
        cluster.pods().is_empty() && is_gone(&cluster, &former)
    });
}

#[test]
fn the_termination_grace_period_ends_every_drain() {
    let cluster = Cluster::of("grace");
    let grace = json!({ "template": { "spec": { "terminationGracePeriod": "10s" } } });
    let stubborn = pod(cluster.name, "stubborn", json!({}));
    cluster.apply(&[
        never_allows(&cluster, "stubborn"),
        pool(cluster.name, grace),
        annotated(stubborn, PROTECTED, "true"),
    ]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let former = names(&cluster.claims());
    delete(&cluster, "nodeclaim");
    cluster.stays("the pod has its grace", Duration::from_secs(5), || cluster.ready_pods() == 1);
    cluster.wait("pod, node and claim are gone all the same", || {
        cluster.pods().is_empty() && is_gone(&cluster, &former)
    });
    cluster.wait("the pod was told that it had to go", || {
        !cluster.events(cluster.name, "stubborn", "Disrupted").is_empty()
    });
}

#[test]
fn a_node_that_is_too_old_is_replaced() {
    let cluster = Cluster::of("expiry");
    let expiry = json!({ "template": { "spec": { "expireAfter": "20s" } } });
    cluster.apply(&[pool(cluster.name, expiry), deployment(cluster.name, "web", 1, json!({}))]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let former = names(&cluster.claims());
    cluster.wait("the claim is gone", || {
        names(&cluster.claims()).iter().all(|claim| !former.contains(claim))
    });
    cluster.wait("the pod is ready on another node", || cluster.ready_pods() == 1);
    let metrics = cluster.controller.metrics();
    let counted = metrics.lines().any(|line| {
        line.starts_with("karpenter_nodeclaims_disrupted_total")
            && line.contains(r#"nodepool="expiry""#)
            && line.contains(r#"reason="expired""#)
    });
    assert!(counted, "{metrics}");
}
