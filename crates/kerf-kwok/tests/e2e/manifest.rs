//! The objects tests are made of, as short as they can be.

use serde_json::{Value, json};

/// The label that ties a test's pods to its pool.
pub(crate) const TEST: &str = "example.com/test";

/// A pool of on-demand Linux nodes for one test; `more` is merged into its spec.
pub(crate) fn pool(test: &str, more: Value) -> Value {
    let mut pool = json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": { "name": test },
        "spec": {
            "disruption": { "consolidateAfter": "Never" },
            "template": {
                "metadata": { "labels": { TEST: test } },
                "spec": {
                    "nodeClassRef": {
                        "group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default",
                    },
                    "requirements": [
                        { "key": "karpenter.sh/capacity-type", "operator": "In",
                          "values": ["on-demand"] },
                        { "key": "kubernetes.io/os", "operator": "In", "values": ["linux"] },
                    ],
                },
            },
        },
    });
    merge(&mut pool["spec"], more);
    pool
}

/// A Deployment of pods that run in the test's pool only; `more` is merged into the pods' spec.
pub(crate) fn deployment(test: &str, name: &str, replicas: u32, more: Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name, "namespace": test },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": pod_spec(test, more),
            },
        },
    })
}

/// A DaemonSet on the nodes of the test's pool, whose pods must not be disrupted.
pub(crate) fn daemon_set(test: &str, name: &str, more: Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": { "name": name, "namespace": test },
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": {
                    "labels": { "app": name },
                    "annotations": { "karpenter.sh/do-not-disrupt": "true" },
                },
                "spec": pod_spec(test, more),
            },
        },
    })
}

/// A pod that runs in the test's pool only.
pub(crate) fn pod(test: &str, name: &str, more: Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "namespace": test, "labels": { "app": name } },
        "spec": pod_spec(test, more),
    })
}

/// The spec of a pod that asks for one processor.
pub(crate) fn pod_spec(test: &str, more: Value) -> Value {
    let mut spec = json!({
        "nodeSelector": { TEST: test },
        "terminationGracePeriodSeconds": 0,
        "containers": [{
            "name": "pause",
            "image": "registry.k8s.io/pause:3.10",
            "resources": { "requests": { "cpu": "1" } },
        }],
    });
    merge(&mut spec, more);
    spec
}

/// Puts one object over another, deeply; lists replace lists.
pub(crate) fn merge(base: &mut Value, more: Value) {
    match (base, more) {
        (Value::Object(base), Value::Object(more)) => {
            for (key, value) in more {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, more) => *base = more,
    }
}
