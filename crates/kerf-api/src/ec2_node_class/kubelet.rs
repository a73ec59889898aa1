//! The kubelet's settings, as a class gives them.
//!
//! Twelve settings are mapped: Kerf reads them when it computes what a node offers, and writes them
//! in every image family's own form. All others are kept as they are and handed to the kubelet by
//! the families that take a whole configuration. The schema checks the mapped ones; what it cannot
//! express is in [`validate_kubelet`](super::validate_kubelet).

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::schema::patterns;
use crate::schema::rules::{cel_list, rule};

/// Signals an eviction threshold may be set for.
pub(super) const EVICTION_SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];
/// Resources that may be reserved.
pub(super) const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];

/// Settings of the kubelet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "x-kubernetes-preserve-unknown-fields" = true,
    "x-kubernetes-validations" = kubelet_rules(),
))]
pub struct Kubelet {
    /// Addresses of the cluster's DNS servers.
    #[serde(rename = "clusterDNS", default, skip_serializing_if = "Option::is_none")]
    pub cluster_dns: Option<Vec<String>>,
    /// Whether CPU limits are enforced by quota.
    #[serde(rename = "cpuCFSQuota", default, skip_serializing_if = "Option::is_none")]
    pub cpu_cfs_quota: Option<bool>,
    /// Signal to threshold below which pods are evicted at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "eviction_hard")]
    pub eviction_hard: Option<BTreeMap<String, String>>,
    /// The longest grace, in seconds, a pod gets when a soft threshold is met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub eviction_max_pod_grace_period: Option<i32>,
    /// Signal to threshold below which pods are evicted after a grace period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "eviction_soft")]
    pub eviction_soft: Option<BTreeMap<String, String>>,
    /// Signal to how long its soft threshold must be met; for each signal of `evictionSoft`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "eviction_soft_grace_period")]
    pub eviction_soft_grace_period: Option<BTreeMap<String, String>>,
    /// Disk use, in percent, from which unused images are always removed.
    #[serde(rename = "imageGCHighThresholdPercent")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_high_threshold_percent: Option<i32>,
    /// Disk use, in percent, down to which unused images are removed.
    #[serde(rename = "imageGCLowThresholdPercent")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_low_threshold_percent: Option<i32>,
    /// Resource to amount kept for Kubernetes itself: a quantity, or an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "kube_reserved")]
    pub kube_reserved: Option<BTreeMap<String, String>>,
    /// The most pods a node runs: a number, or an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pods: Option<MaxPods>,
    /// The most pods a node runs for each core; zero sets no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub pods_per_core: Option<i32>,
    /// Resource to amount kept for the operating system: a quantity, or an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "system_reserved")]
    pub system_reserved: Option<BTreeMap<String, String>>,
    /// Every other setting, by its name in the kubelet's configuration file.
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

/// The most pods a node runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MaxPods {
    /// The same for every instance type.
    Count(i64),
    /// Computed for each instance type.
    Expression(String),
}

impl JsonSchema for MaxPods {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MaxPods".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "x-kubernetes-validations": [rule(
                "type(self) != int || (self >= 0 && self <= 2147483647)",
                "maxPods as a number must be between 0 and 2147483647",
            )],
        })
    }
}

fn kubelet_rules() -> Value {
    json!([
        rule(
            "!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || \
             self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent",
            "imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent",
        ),
        covered("evictionSoft", "evictionSoftGracePeriod"),
        covered("evictionSoftGracePeriod", "evictionSoft"),
    ])
}

/// Every key of one map must be in the other; an absent map is an empty one.
fn covered(map: &str, by: &str) -> Value {
    rule(
        &format!("!has(self.{map}) || self.{map}.all(k, has(self.{by}) && k in self.{by})"),
        &format!("each key of {map} must also be in {by}"),
    )
}

fn eviction_hard(_: &mut SchemaGenerator) -> Schema {
    thresholds("evictionHard")
}

fn eviction_soft(_: &mut SchemaGenerator) -> Schema {
    thresholds("evictionSoft")
}

fn thresholds(name: &str) -> Schema {
    let mut schema = text_map(name, &EVICTION_SIGNALS, None);
    let value = json!({ "type": "string", "pattern": patterns::EVICTION_THRESHOLD });
    schema.insert("additionalProperties".into(), value);
    schema
}

fn eviction_soft_grace_period(_: &mut SchemaGenerator) -> Schema {
    text_map("evictionSoftGracePeriod", &EVICTION_SIGNALS, None)
}

fn kube_reserved(_: &mut SchemaGenerator) -> Schema {
    text_map("kubeReserved", &RESERVABLE, Some(not_negative("kubeReserved")))
}

fn system_reserved(_: &mut SchemaGenerator) -> Schema {
    text_map("systemReserved", &RESERVABLE, Some(not_negative("systemReserved")))
}

fn not_negative(map: &str) -> Value {
    rule("self.all(k, !self[k].startsWith('-'))", &format!("{map} cannot have a negative amount"))
}

fn text_map(name: &str, keys: &[&str], further: Option<Value>) -> Schema {
    let allowed = rule(
        &format!("self.all(k, k in {})", cel_list(keys.iter().copied())),
        &format!("the keys of {name} must be of '{}'", keys.join("', '")),
    );
    let rules: Vec<Value> = std::iter::once(allowed).chain(further).collect();
    json_schema!({
        "type": "object",
        "additionalProperties": { "type": "string" },
        "x-kubernetes-validations": rules,
    })
}
