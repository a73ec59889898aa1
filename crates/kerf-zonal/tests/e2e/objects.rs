//! The objects tests are made of.

use serde_json::{Value, json};

pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";

/// `zone("a")` is `us-west-2a`.
pub(crate) fn zone(letter: &str) -> String {
    format!("us-west-2{letter}")
}

/// A zone requirement with these values, given as letters.
pub(crate) fn zones(operator: &str, letters: &[&str]) -> Value {
    let values: Vec<_> = letters.iter().map(|letter| zone(letter)).collect();
    json!({"key": ZONE, "operator": operator, "values": values})
}

/// The same with `minValues`.
pub(crate) fn zones_at_least(min: u64, letters: &[&str]) -> Value {
    let mut entry = zones("In", letters);
    entry["minValues"] = json!(min);
    entry
}

pub(crate) fn arm() -> Value {
    json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]})
}

/// A pool with everything a shift must leave alone.
pub(crate) fn pool(name: &str, requirements: &[Value]) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "annotations": {"team": "platform"}},
        "spec": {
            "weight": 10,
            "limits": {"cpu": "1000"},
            "template": {
                "metadata": {"labels": {"tier": "web"}},
                "spec": {
                    "nodeClassRef": {
                        "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default",
                    },
                    "requirements": requirements,
                    "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
                    "expireAfter": "720h",
                },
            },
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "30s",
                "budgets": [
                    {"nodes": "0", "schedule": "0 9 * * 1-5", "duration": "8h",
                     "reasons": ["Drifted"]},
                    {"nodes": "10%"},
                ],
            },
        },
    })
}

/// A pool of EKS Auto Mode.
pub(crate) fn auto_mode_pool(name: &str, requirements: &[Value]) -> Value {
    let mut object = pool(name, requirements);
    object["spec"]["template"]["spec"]["nodeClassRef"] =
        json!({"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"});
    object["spec"].as_object_mut().unwrap().remove("weight");
    object
}

/// A node class whose status has subnets in these zones.
pub(crate) fn node_class(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": name},
        "spec": {
            "role": "nodes",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "prod"}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "prod"}}],
        },
    })
}

/// A node of a pool.
pub(crate) fn node(name: &str, letter: &str, pool: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {ZONE: zone(letter), "karpenter.sh/nodepool": pool},
        },
    })
}

/// A stand-in for the definition that means Auto Mode.
pub(crate) fn auto_mode_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "nodeclasses.eks.amazonaws.com"},
        "spec": {
            "group": "eks.amazonaws.com",
            "names": {"kind": "NodeClass", "plural": "nodeclasses", "singular": "nodeclass"},
            "scope": "Cluster",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}
