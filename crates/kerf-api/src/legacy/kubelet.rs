//! The kubelet settings a Provisioner carried.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::quantity::ResourceList;
use crate::schema::rules::{cel_list, rule};

/// Resources that may be held back from pods.
pub(crate) const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];

/// What the kubelet watches to evict pods before the node suffers.
pub(crate) const EVICTION_SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];

/// A quantity that is not below zero.
const AMOUNT: &str = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?";
/// A percentage from 0 to 100.
const PERCENTAGE: &str = r"0*([0-9]{1,2}(\.[0-9]*)?|\.[0-9]+|100(\.0*)?)%";
/// A Go duration that is not below zero.
const DURATION: &str = r"^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

/// Kubelet settings. Today they belong to the EC2NodeClass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = kubelet_rules()))]
pub struct KubeletConfiguration {
    /// Addresses of the cluster's DNS servers.
    #[serde(rename = "clusterDNS", default, skip_serializing_if = "Option::is_none")]
    pub cluster_dns: Option<Vec<String>>,
    /// The container runtime; `containerd` is the only one left, so this has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "container_runtime")]
    pub container_runtime: Option<String>,
    /// Whether CPU limits are enforced by quota.
    #[serde(rename = "cpuCFSQuota", default, skip_serializing_if = "Option::is_none")]
    pub cpu_cfs_quota: Option<bool>,
    /// Thresholds at which pods are evicted at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "thresholds")]
    pub eviction_hard: Option<BTreeMap<String, String>>,
    /// The longest grace period in seconds for pods evicted by a soft threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eviction_max_pod_grace_period: Option<i32>,
    /// Thresholds at which pods are evicted after a grace period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "thresholds")]
    pub eviction_soft: Option<BTreeMap<String, String>>,
    /// How long a soft threshold must be crossed before pods are evicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "grace_periods")]
    pub eviction_soft_grace_period: Option<BTreeMap<String, String>>,
    /// Disk usage in percent above which images are removed.
    #[serde(rename = "imageGCHighThresholdPercent", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_high_threshold_percent: Option<i32>,
    /// Disk usage in percent below which images are left alone.
    #[serde(rename = "imageGCLowThresholdPercent", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_low_threshold_percent: Option<i32>,
    /// Resources held back for Kubernetes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "reserved")]
    pub kube_reserved: Option<ResourceList>,
    /// The most pods a node may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_pods: Option<i32>,
    /// The most pods per CPU core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub pods_per_core: Option<i32>,
    /// Resources held back for the operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "reserved")]
    pub system_reserved: Option<ResourceList>,
}

fn kubelet_rules() -> Value {
    json!([
        rule(
            "!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || \
             self.imageGCHighThresholdPercent >= self.imageGCLowThresholdPercent",
            "imageGCHighThresholdPercent must be at least imageGCLowThresholdPercent",
        ),
        rule(
            "!has(self.evictionSoft) || (has(self.evictionSoftGracePeriod) && \
             self.evictionSoft.all(x, x in self.evictionSoftGracePeriod))",
            "evictionSoft needs an evictionSoftGracePeriod for each of its signals",
        ),
        rule(
            "!has(self.evictionSoftGracePeriod) || (has(self.evictionSoft) && \
             self.evictionSoftGracePeriod.all(x, x in self.evictionSoft))",
            "evictionSoftGracePeriod needs an evictionSoft threshold for each of its signals",
        ),
    ])
}

fn container_runtime(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["dockerd", "containerd"] })
}

fn thresholds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "maxProperties": EVICTION_SIGNALS.len(),
        "additionalProperties": {
            "type": "string", "pattern": format!(r"^\+?({AMOUNT}|{PERCENTAGE})$"),
        },
        "x-kubernetes-validations": [known_keys(&EVICTION_SIGNALS, "eviction signals")],
    })
}

fn grace_periods(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "maxProperties": EVICTION_SIGNALS.len(),
        "additionalProperties": { "type": "string", "pattern": DURATION },
        "x-kubernetes-validations": [known_keys(&EVICTION_SIGNALS, "eviction signals")],
    })
}

fn reserved(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "maxProperties": RESERVABLE.len(),
        "additionalProperties": {
            "x-kubernetes-int-or-string": true, "minimum": 0,
            "pattern": format!(r"^\+?{AMOUNT}$"),
        },
        "x-kubernetes-validations": [known_keys(&RESERVABLE, "reservable resources")],
    })
}

fn known_keys(keys: &[&str], what: &str) -> Value {
    rule(
        &format!("self.all(x, x in {})", cel_list(keys.iter().copied())),
        &format!("{what} are {}", keys.join(", ")),
    )
}
