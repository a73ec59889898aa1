//! Pools, node classes and pods.

use serde_json::{Value, json};

use crate::home::CLUSTER;

const PAGE: &str = include_str!("../../../../docs/aws.md");
const CLUSTER_NAME: &str = "${CLUSTER_NAME}";

/// The manifests of the page's quick start, for this cluster.
pub(crate) fn quick_start() -> String {
    let (_, rest) = PAGE.split_once("```yaml\n").expect("the page has manifests");
    let (manifests, _) = rest.split_once("```").expect("they end");
    assert!(manifests.contains(CLUSTER_NAME), "{manifests}");
    manifests.replace(CLUSTER_NAME, CLUSTER)
}

/// A class as in the quick start.
pub(crate) fn class() -> Value {
    class_named("default", &json!({}))
}

/// The same by another name, with some fields said otherwise.
pub(crate) fn class_named(name: &str, otherwise: &Value) -> Value {
    let discovered = json!([{"tags": {"karpenter.sh/discovery": CLUSTER}}]);
    let mut class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "role": format!("KarpenterNodeRole-{CLUSTER}"),
            "subnetSelectorTerms": discovered,
            "securityGroupSelectorTerms": discovered,
        },
    });
    for (field, value) in otherwise.as_object().unwrap() {
        class["spec"][field] = value.clone();
    }
    class
}

/// A pool of these types of a class, anywhere.
pub(crate) fn pool_of(name: &str, class: &str, types: &[&str]) -> Value {
    let mut pool = pool(types, &["us-east-1a"]);
    pool["metadata"]["name"] = json!(name);
    pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] = json!(class);
    pool
}

/// A pool of these types in these zones, spot or on demand, whose nodes stay.
pub(crate) fn pool(types: &[&str], zones: &[&str]) -> Value {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let one_of =
        |key: &str, values: &[&str]| json!({"key": key, "operator": "In", "values": values});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
        "spec": {
            "disruption": {"consolidateAfter": "Never"},
            "template": {"spec": {"nodeClassRef": class, "requirements": [
                one_of("node.kubernetes.io/instance-type", types),
                one_of("topology.kubernetes.io/zone", zones),
                one_of("karpenter.sh/capacity-type", &["spot", "on-demand"]),
            ]}},
        },
    })
}

/// A deployment of pods that each fill a large instance.
pub(crate) fn deployment(replicas: u32) -> Value {
    let labels = json!({"app": "inflate"});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "inflate", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "pause", "image": "pause",
                        "resources": {"requests": {"cpu": "1500m"}}}],
                },
            },
        },
    })
}

/// A pod that insists on nodes of a pool, and fills one.
pub(crate) fn pod_in(pool: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("in-{pool}"), "namespace": "default"},
        "spec": {
            "nodeSelector": {"karpenter.sh/nodepool": pool},
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "pause", "image": "pause",
                "resources": {"requests": {"cpu": "1500m"}}}],
        },
    })
}
