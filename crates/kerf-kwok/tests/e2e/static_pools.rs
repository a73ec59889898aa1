//! Pools that have so many nodes, whatever pods ask for.

use serde_json::json;

use crate::cluster::{Cluster, names};
use crate::manifest::pool;

const EDITION: &str = "example.com/edition";

fn is_initialized(cluster: &Cluster) -> usize {
    let is_up = |node: &&k8s_openapi::api::core::v1::Node| {
        let labels = node.metadata.labels.as_ref();
        labels.is_some_and(|it| it.get("karpenter.sh/initialized").is_some_and(|up| up == "true"))
    };
    cluster.nodes().iter().filter(is_up).count()
}

fn scale(cluster: &Cluster, replicas: u32) {
    let replicas = format!("--replicas={replicas}");
    cluster.kubectl(&["scale", "nodepool", cluster.name, &replicas]);
}

#[test]
fn a_static_pool_has_its_nodes_replaces_those_that_drift_and_gives_up_what_is_too_many() {
    let cluster = Cluster::of("static-pool");
    cluster.apply(&[pool(
        cluster.name,
        json!({ "replicas": 1, "limits": { "nodes": "4" }, "disruption": {
            "consolidateAfter": "0s", "budgets": [{ "nodes": "1" }],
        }}),
    )]);
    cluster.wait("there is a node without any pod", || is_initialized(&cluster) == 1);
    scale(&cluster, 3);
    cluster.wait("there are three", || is_initialized(&cluster) == 3);
    let former = names(&cluster.claims());
    let patch = json!({ "spec": { "template": { "metadata": { "labels": { EDITION: "two" } } } } });
    let patch = format!("--patch={patch}");
    cluster.kubectl(&["patch", "nodepool", cluster.name, "--type=merge", &patch]);
    cluster.wait("each was replaced, and never were there more than the limit", || {
        let claims = names(&cluster.claims());
        assert!(claims.len() <= 4, "{claims:?}");
        former.iter().all(|claim| !claims.contains(claim))
    });
    cluster.wait("there are three again", || {
        is_initialized(&cluster) == 3 && cluster.claims().len() == 3
    });
    let renewed = names(&cluster.claims());
    scale(&cluster, 1);
    cluster.wait("one is left", || cluster.claims().len() == 1);
    assert!(renewed.contains(&names(&cluster.claims())[0]), "nothing was launched for it");
    let metrics = cluster.controller.metrics();
    let counted = |reason: &str, count: &str| {
        metrics.lines().any(|line| {
            line.starts_with("karpenter_nodeclaims_disrupted_total")
                && line.contains(r#"nodepool="static-pool""#)
                && line.contains(&format!(r#"reason="{reason}""#))
                && line.ends_with(count)
        })
    };
    assert!(counted("drifted", " 3") && counted("overprovisioned", " 2"), "{metrics}");
}
