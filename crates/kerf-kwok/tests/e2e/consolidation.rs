//! Nodes that are in use go where the same pods fit on fewer or cheaper ones.

use kube::ResourceExt;
use serde_json::{Value, json};

use crate::cluster::{Cluster, names};
use crate::manifest::{deployment, pool};

/// A pool whose nodes are consolidated when they have been quiet for a few seconds; so many of them
/// at once.
fn underutilized(test: &str, nodes: &str) -> Value {
    pool(
        test,
        json!({ "disruption": {
            "consolidateAfter": "5s", "consolidationPolicy": "WhenEmptyOrUnderutilized",
            "budgets": [{ "nodes": nodes }],
        }}),
    )
}

/// The processors of the test's nodes together.
fn processors(cluster: &Cluster) -> i64 {
    let cpu = |node: &k8s_openapi::api::core::v1::Node| {
        let capacity = node.status.as_ref()?.capacity.as_ref()?;
        capacity.get("cpu")?.0.parse::<i64>().ok()
    };
    cluster.nodes().iter().filter_map(cpu).sum()
}

fn annotate(cluster: &Cluster, annotation: &str) {
    cluster.kubectl(&["annotate", "pods", "--selector=app=web", annotation]);
}

/// Whether a metric of the test's pool has such a line.
fn counted(cluster: &Cluster, metric: &str, labels: &[&str]) -> bool {
    let pool = format!(r#"nodepool="{}""#, cluster.name);
    cluster.controller.metrics().lines().any(|line| {
        let has = |label: &&str| line.contains(*label);
        line.starts_with(metric) && line.contains(&pool) && labels.iter().all(has)
    })
}

#[test]
fn nodes_that_became_too_large_give_way_to_fewer_and_cheaper_ones() {
    let cluster = Cluster::of("consolidation");
    let web = deployment(cluster.name, "web", 6, json!({}));
    cluster.apply(&[underutilized(cluster.name, "100%"), web]);
    cluster.wait("six pods are ready", || cluster.ready_pods() == 6);
    let (former, before) = (names(&cluster.claims()), processors(&cluster));
    cluster.kubectl(&["scale", "deployment", "web", "--replicas=2"]);
    cluster.wait("two pods are left", || cluster.pods().len() == 2);
    cluster.wait("the former nodes are gone, and their pods run elsewhere", || {
        let claims = names(&cluster.claims());
        former.iter().all(|claim| !claims.contains(claim)) && cluster.ready_pods() == 2
    });
    let after = processors(&cluster);
    assert!(after <= 4, "{after} processors for two pods of one, {before} before");
    let reason = r#"reason="underutilized""#;
    assert!(counted(&cluster, "karpenter_nodeclaims_disrupted_total", &[reason]));
    assert!(counted(&cluster, "karpenter_nodeclaims_created_total", &[reason]));
}

#[test]
fn a_node_whose_pods_fit_on_another_goes_and_nothing_is_launched() {
    let cluster = Cluster::of("consolidation-delete");
    let closed = underutilized(cluster.name, "0");
    cluster.apply(&[closed, deployment(cluster.name, "filler", 3, json!({}))]);
    cluster.wait("the first node is full", || cluster.ready_pods() == 3);
    cluster.apply(&[deployment(cluster.name, "web", 3, json!({}))]);
    cluster.wait("the second as well", || cluster.ready_pods() == 6);
    let former = names(&cluster.claims());
    assert!(former.len() > 1, "{former:?}");
    cluster.kubectl(&["scale", "deployment", "filler", "--replicas=2"]);
    cluster.kubectl(&["scale", "deployment", "web", "--replicas=1"]);
    cluster.wait("half of the pods are left", || cluster.pods().len() == 3);
    cluster.apply(&[underutilized(cluster.name, "100%")]);
    cluster.wait("one node is left with all pods", || {
        cluster.claims().len() == 1 && cluster.ready_pods() == 3
    });
    assert!(former.contains(&names(&cluster.claims())[0]), "nothing was launched");
    let labels = [r#"decision="delete""#, r#"reason="underutilized""#];
    let decisions = "karpenter_voluntary_disruption_decisions_by_nodepool_total";
    assert!(counted(&cluster, decisions, &labels));
}

#[test]
fn what_must_stay_stays_and_is_told_why_until_it_may_go() {
    let cluster = Cluster::of("consolidation-kept");
    let closed = underutilized(cluster.name, "0");
    cluster.apply(&[closed, deployment(cluster.name, "web", 6, json!({}))]);
    cluster.wait("six pods are ready", || cluster.ready_pods() == 6);
    let former = names(&cluster.claims());
    cluster.kubectl(&["scale", "deployment", "web", "--replicas=1"]);
    cluster.wait("one pod is left", || cluster.pods().len() == 1);
    let told = |object: &str| cluster.events("default", object, "DisruptionBlocked");
    cluster.wait("the pool says that its budget allows nothing", || !told(cluster.name).is_empty());
    assert_eq!(names(&cluster.claims()), former);
    annotate(&cluster, "karpenter.sh/do-not-disrupt=true");
    cluster.apply(&[underutilized(cluster.name, "100%")]);
    cluster.wait("a node says that a pod must not be disturbed", || {
        let nodes = cluster.nodes();
        nodes.iter().any(|node| !told(&node.name_any()).is_empty())
    });
    assert!(cluster.claims().iter().any(|claim| former.contains(&claim.name_any())));
    annotate(&cluster, "karpenter.sh/do-not-disrupt-");
    cluster.wait("a cheaper node has taken its place", || {
        let claims = names(&cluster.claims());
        former.iter().all(|claim| !claims.contains(claim)) && cluster.ready_pods() == 1
    });
}
