//! What the controllers have to launch.

use serde_json::json;

/// A node class and a pool of small spot instances, any of many types.
pub(crate) fn class_and_pool(cluster: &str) -> String {
    let discovered = json!([{"tags": {"karpenter.sh/discovery": cluster}}]);
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "role": format!("KarpenterNodeRole-{cluster}"),
            "subnetSelectorTerms": discovered,
            "securityGroupSelectorTerms": discovered,
        },
    });
    let reference =
        json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let one_of =
        |key: &str, values: &[&str]| json!({"key": key, "operator": "In", "values": values});
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
        "spec": {
            "disruption": {"consolidateAfter": "Never"},
            "template": {"spec": {"nodeClassRef": reference, "requirements": [
                one_of("karpenter.k8s.aws/instance-size", &["large"]),
                one_of("karpenter.k8s.aws/instance-category", &["c", "m", "r"]),
                one_of("karpenter.sh/capacity-type", &["spot"]),
                one_of("kubernetes.io/arch", &["amd64"]),
            ]}},
        },
    });
    list(&[class, pool])
}

/// A pod that nobody owns.
pub(crate) fn pod() -> String {
    list(&[json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "inflate", "namespace": "default"}, "spec": pod_spec(),
    })])
}

/// Pods that each fill a large instance.
pub(crate) fn deployment(replicas: usize) -> String {
    let labels = json!({"app": "inflate"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "inflate", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": pod_spec(),
            },
        },
    });
    list(&[deployment])
}

fn pod_spec() -> serde_json::Value {
    json!({
        "terminationGracePeriodSeconds": 0,
        "containers": [{
            "name": "pause", "image": "registry.k8s.io/pause:3.10",
            "resources": {"requests": {"cpu": "1500m"}},
        }],
    })
}

fn list(objects: &[serde_json::Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}
