//! What the controllers have to find places for.

use serde_json::{Value, json};

/// Deployments on an empty cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Workload {
    /// A thousand pods of two kinds: half of them small, half ask for much memory.
    Mixed,
    /// Ten Deployments whose pods each want a node of their own.
    Spread,
}

const MIXED: [(&str, &str, &str); 2] = [("small", "900m", "3100Mi"), ("large", "3500m", "28Gi")];
const MIXED_PODS_EACH: usize = 500;
const SPREAD_DEPLOYMENTS: usize = 10;
const SPREAD_PODS_EACH: usize = 40;

impl Workload {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "mixed" => Some(Self::Mixed),
            "spread" => Some(Self::Spread),
            _ => None,
        }
    }

    /// How many pods there will be.
    pub(crate) fn pod_count(self) -> usize {
        match self {
            Self::Mixed => MIXED.len() * MIXED_PODS_EACH,
            Self::Spread => SPREAD_DEPLOYMENTS * SPREAD_PODS_EACH,
        }
    }

    /// The Deployments, as a list to apply.
    pub(crate) fn manifest(self) -> String {
        let deployments: Vec<Value> = match self {
            Self::Mixed => {
                let deployment = |(name, cpu, memory): (&str, &str, &str)| {
                    deployment(name, MIXED_PODS_EACH, cpu, memory, json!([]))
                };
                MIXED.map(deployment).to_vec()
            }
            Self::Spread => (0..SPREAD_DEPLOYMENTS).map(spread).collect(),
        };
        json!({ "apiVersion": "v1", "kind": "List", "items": deployments }).to_string()
    }
}

/// One of the Deployments that spread over nodes; each asks for more than the one before.
fn spread(index: usize) -> Value {
    let name = format!("spread-{index}");
    let (cpu, memory) = (format!("{}m", 200 + 100 * index), format!("{}Mi", 256 + 200 * index));
    let rule = json!([{
        "topologyKey": "kubernetes.io/hostname", "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": { "matchLabels": { "app": name } },
    }]);
    deployment(&name, SPREAD_PODS_EACH, &cpu, &memory, rule)
}

pub(crate) fn deployment(
    name: &str,
    replicas: usize,
    cpu: &str,
    memory: &str,
    spreads: Value,
) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": name, "namespace": "default" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": {
                    "topologySpreadConstraints": spreads,
                    "containers": [{
                        "name": "pause", "image": "registry.k8s.io/pause:3.10",
                        "resources": { "requests": { "cpu": cpu, "memory": memory } },
                    }],
                },
            },
        },
    })
}
