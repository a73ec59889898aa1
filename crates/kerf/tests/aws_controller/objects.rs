//! Pools and pods, and the machines there are for them.

use kerf_testbed::ControlPlane;
use serde_json::{Value, json};

/// Simulated machines in the zones of `us-east-1`, of which the first is the cheapest.
pub(crate) const TYPES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/try/instance-types-us-east-1.json");
pub(crate) const ZONES: [&str; 3] = ["us-east-1a", "us-east-1b", "us-east-1c"];
const ZONE: &str = "topology.kubernetes.io/zone";

pub(crate) fn class() -> Value {
    json!({"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": {"name": "default"}, "spec": {}})
}

/// A pool whose empty nodes go at once.
pub(crate) fn pool(name: &str, zones: &[&str]) -> Value {
    let class = json!({"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"});
    let in_zones = json!({"key": ZONE, "operator": "In", "values": zones});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
        "spec": {
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "0s",
                "budgets": [{"nodes": "100%"}]},
            "template": {"spec": {"nodeClassRef": class, "requirements": [in_zones]}},
        },
    })
}

/// A pod that shares its node with no other, in a zone or anywhere.
pub(crate) fn pod(name: &str, zone: Option<&str>) -> Value {
    let alone = json!([{"topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "alone"}}}]);
    let selector = zone.map_or(json!({}), |zone| json!({ZONE: zone}));
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "alone"}},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "nodeSelector": selector,
            "affinity": {"podAntiAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": alone}},
            "containers": [{"name": "pause", "image": "pause",
                "resources": {"requests": {"cpu": "1"}}}],
        },
    })
}

/// Pods that come again when they are evicted, anywhere.
pub(crate) fn deployment(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "pause", "image": "pause",
                        "resources": {"requests": {"cpu": "1"}}}],
                },
            },
        },
    })
}

/// The zones of the nodes there are, sorted, each once.
pub(crate) fn zones_in_use(control_plane: &ControlPlane) -> Vec<String> {
    let path = r"--output=jsonpath={.items[*].metadata.labels.topology\.kubernetes\.io/zone}";
    let zones = control_plane.kubectl(&["get", "nodes", path]).unwrap();
    let mut zones: Vec<String> = zones.split_whitespace().map(str::to_owned).collect();
    zones.sort();
    zones.dedup();
    zones
}

/// How many pods of a Deployment are ready.
pub(crate) fn ready(control_plane: &ControlPlane, name: &str) -> String {
    let path = "--output=jsonpath={.status.readyReplicas}";
    control_plane.kubectl(&["get", "deployment", name, path]).unwrap()
}

/// The zone a pod runs in, once it runs.
pub(crate) fn zone_of(control_plane: &ControlPlane, pod: &str) -> Option<String> {
    let path = "--output=jsonpath={.spec.nodeName}";
    let node = control_plane.kubectl(&["get", "pod", pod, path]).ok().filter(|n| !n.is_empty())?;
    let path = r"--output=jsonpath={.metadata.labels.topology\.kubernetes\.io/zone}";
    control_plane.kubectl(&["get", "node", &node, path]).ok()
}

pub(crate) fn apply(control_plane: &ControlPlane, objects: &[Value]) {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    control_plane.apply(&list.to_string()).unwrap();
}
