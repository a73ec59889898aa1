//! Nodes that are no longer what their pool asks for are replaced while their pods run on.

use serde_json::{Value, json};

use crate::cluster::{Cluster, names};
use crate::manifest::{deployment, pool};

const EDITION: &str = "example.com/edition";

/// Gives new nodes of the test's pool another label.
fn edit_template(cluster: &Cluster, edition: &str) {
    let patch =
        json!({ "spec": { "template": { "metadata": { "labels": { EDITION: edition } } } } });
    let patch = format!("--patch={patch}");
    cluster.kubectl(&["patch", "nodepool", cluster.name, "--type=merge", &patch]);
}

/// Lets one pod of a Deployment go at a time.
fn one_at_a_time(cluster: &Cluster, app: &str) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": { "name": app, "namespace": cluster.name },
        "spec": { "maxUnavailable": 1, "selector": { "matchLabels": { "app": app } } },
    })
}

/// Pods of an app on nodes of their own.
fn apart(app: &str) -> Value {
    json!({ "affinity": { "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchLabels": { "app": app } },
        }],
    } } })
}

#[test]
fn every_node_of_an_edited_pool_is_replaced_while_its_pods_run_on() {
    let cluster = Cluster::of("drift");
    let budgets = json!({ "disruption": { "budgets": [{ "nodes": "2" }] } });
    cluster.apply(&[
        one_at_a_time(&cluster, "web"),
        pool(cluster.name, budgets),
        deployment(cluster.name, "web", 3, apart("web")),
    ]);
    cluster.wait("the pods are ready", || cluster.ready_pods() == 3);
    let former = names(&cluster.claims());
    assert_eq!(former.len(), 3, "each pod has a node of its own: {former:?}");
    edit_template(&cluster, "two");
    cluster.wait("every former claim is gone, and two pods were ready all the time", || {
        assert!(cluster.ready_pods() >= 2, "more than one pod is away");
        let claims = names(&cluster.claims());
        former.iter().all(|claim| !claims.contains(claim))
    });
    cluster.wait("all pods are ready again", || cluster.ready_pods() == 3);
    for node in cluster.nodes() {
        let labels = node.metadata.labels.unwrap();
        assert_eq!(labels.get(EDITION).map(String::as_str), Some("two"), "{labels:?}");
    }
    let metrics = cluster.controller.metrics();
    let replaced = metrics.lines().find(|line| {
        line.starts_with("karpenter_nodeclaims_disrupted_total")
            && line.contains(r#"nodepool="drift""#)
            && line.contains(r#"reason="drifted""#)
    });
    assert!(replaced.is_some_and(|line| line.ends_with(" 3")), "{metrics}");
}

#[test]
fn a_claim_says_that_it_has_drifted_until_its_pool_is_put_back() {
    let cluster = Cluster::of("drift-said");
    let closed = json!({ "disruption": { "budgets": [{ "nodes": "0" }] } });
    cluster.apply(&[pool(cluster.name, closed), deployment(cluster.name, "web", 1, json!({}))]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let drifted = || {
        let claims = cluster.kubectl(&[
            "get",
            "nodeclaims",
            &format!("--selector=karpenter.sh/nodepool={}", cluster.name),
            "--output=jsonpath={.items[*].status.conditions[?(@.type==\"Drifted\")].reason}",
        ]);
        claims.trim().to_owned()
    };
    edit_template(&cluster, "two");
    cluster.wait("the claim says why", || drifted() == "NodePoolDrifted");
    let news = || cluster.events("default", cluster.name, "DisruptionBlocked");
    cluster.wait("the pool says that its budget allows nothing", || !news().is_empty());
    let patch = json!({ "spec": { "template": { "metadata": { "labels": { EDITION: null } } } } });
    let patch = format!("--patch={patch}");
    cluster.kubectl(&["patch", "nodepool", cluster.name, "--type=merge", &patch]);
    cluster.wait("the claim is what its pool asks for again", || drifted().is_empty());
    assert_eq!(cluster.ready_pods(), 1);
}

/// A budget that allows nothing, from the hour that is so many hours from now on, for three hours.
fn closed_from(hours: i64) -> Value {
    let hour = jiff::Timestamp::now().as_second().div_euclid(3_600) + hours;
    json!({ "disruption": { "budgets": [
        { "nodes": "0", "schedule": format!("0 {} * * *", hour.rem_euclid(24)), "duration": "3h" },
    ]}})
}

#[test]
fn nothing_drifts_away_while_a_window_is_closed_and_the_pool_says_until_when() {
    let cluster = Cluster::of("drift-window");
    cluster.apply(&[
        pool(cluster.name, closed_from(-1)),
        deployment(cluster.name, "web", 1, json!({})),
    ]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let former = names(&cluster.claims());
    edit_template(&cluster, "two");
    let allowed = || {
        let path = "--output=jsonpath={.status.conditions[?(@.type==\"DisruptionAllowed\")]}";
        cluster.kubectl(&["get", "nodepool", cluster.name, path])
    };
    cluster.wait("the pool says until when", || {
        let allowed = allowed();
        allowed.contains("BudgetsClosed") && allowed.contains(" until ")
    });
    let news = || cluster.events("default", cluster.name, "DisruptionBlocked");
    cluster.wait("the pool says that its budget allows nothing", || !news().is_empty());
    assert_eq!(names(&cluster.claims()), former);
    let open = format!("--patch={}", json!({ "spec": closed_from(6) }));
    cluster.kubectl(&["patch", "nodepool", cluster.name, "--type=merge", &open]);
    cluster.wait("the node is replaced now", || {
        let claims = names(&cluster.claims());
        former.iter().all(|claim| !claims.contains(claim)) && cluster.ready_pods() == 1
    });
}
