//! Pools and the pods for them.

use serde_json::{Value, json};

/// The label that ties pods to their pool.
const POOL: &str = "karpenter.sh/nodepool";

pub(crate) fn class() -> Value {
    json!({"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": {"name": "default"}, "spec": {}})
}

/// A pool with these rules of disruption and these limits.
pub(crate) fn pool(name: &str, disruption: Value, limits: Value) -> Value {
    let class = json!({"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"});
    let requirements = json!([
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
    ]);
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
        "spec": {
            "disruption": disruption,
            "limits": limits,
            "template": {"spec": {"nodeClassRef": class, "requirements": requirements}},
        },
    })
}

/// A pool whose nodes stay.
pub(crate) fn lasting_pool(name: &str) -> Value {
    pool(name, json!({"consolidateAfter": "Never"}), json!({}))
}

/// A pool whose empty nodes go at once, so many at a time.
pub(crate) fn shrinking_pool(name: &str, at_a_time: u32) -> Value {
    let disruption = json!({"consolidationPolicy": "WhenEmpty", "consolidateAfter": "0s",
        "budgets": [{"nodes": at_a_time.to_string()}]});
    pool(name, disruption, json!({}))
}

/// Pods of a pool's nodes, each on a node of its own.
pub(crate) fn alone(pool: &str, replicas: u32) -> Value {
    let apart = json!([{"topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": pool}}}]);
    let affinity =
        json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": apart}});
    deployment(pool, replicas, json!({"affinity": affinity}))
}

/// Pods of a pool's nodes that share them.
pub(crate) fn together(pool: &str, replicas: u32) -> Value {
    deployment(pool, replicas, json!({}))
}

fn deployment(pool: &str, replicas: u32, more: Value) -> Value {
    let mut spec = json!({
        "nodeSelector": {POOL: pool},
        "containers": [{"name": "pause", "image": "registry.k8s.io/pause:3.10",
            "resources": {"requests": {"cpu": "500m", "memory": "64Mi"}}}],
    });
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": pool, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": pool}},
            "template": {"metadata": {"labels": {"app": pool}}, "spec": spec},
        },
    })
}

/// Lets one pod of a pool's Deployment go at a time.
pub(crate) fn budget(pool: &str) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": pool, "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": pool}}},
    })
}
