//! Provisioner `karpenter.sh/v1alpha5`: what is today a NodePool.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, Taint};
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::kubelet::KubeletConfiguration;
use super::labels;
use crate::schema::patterns;
use crate::schema::quantity::{ResourceList, resource_list};
use crate::schema::rules::rule;

/// Operators a requirement may use.
pub(crate) const OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
/// Effects a taint may have.
pub(crate) const EFFECTS: [&str; 4] = ["NoSchedule", "PreferNoSchedule", "NoExecute", ""];
/// The kind a `providerRef` names when it does not say.
pub(crate) const PROVIDER_REF_KIND: &str = "AWSNodeTemplate";
/// The version a `providerRef` names when it does not say.
pub(crate) const PROVIDER_REF_API_VERSION: &str = "karpenter.k8s.aws/v1alpha1";

/// Most labels, requirements or taints of each list: what a NodePool may have.
pub(crate) const ENTRIES_MAX: usize = 100;

/// What a Provisioner asks for.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.sh",
    version = "v1alpha5",
    kind = "Provisioner",
    plural = "provisioners",
    category = "karpenter",
    doc = "A Provisioner says which nodes may be made. Kerf treats it as the NodePool it converts to.",
    status = "ProvisionerStatus",
    derive = "PartialEq",
    derive = "Default",
    printcolumn(name = "Template", type_ = "string", json_path = ".spec.providerRef.name"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = spec_rules()))]
pub struct ProvisionerSpec {
    /// Annotations for the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// Whether nodes are removed or replaced when their pods fit elsewhere more cheaply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidation: Option<Consolidation>,
    /// Kubelet settings of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubelet_configuration: Option<KubeletConfiguration>,
    /// Labels for the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "maxProperties" = ENTRIES_MAX,
        "additionalProperties" = json!({
            "type": "string", "maxLength": 63, "pattern": patterns::LABEL_VALUE,
        }),
        "x-kubernetes-validations" = labels::label_key_rules(),
    ))]
    pub labels: Option<BTreeMap<String, String>>,
    /// How much all nodes of this Provisioner may have together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// The fields of an AWSNodeTemplate, written in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "type" = "object",
        "additionalProperties" = null,
        "x-kubernetes-preserve-unknown-fields" = true,
    ))]
    pub provider: Option<Map<String, Value>>,
    /// The AWSNodeTemplate the nodes are made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_ref: Option<ProviderRef>,
    /// Constraints on the labels of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "requirements")]
    pub requirements: Option<Vec<NodeSelectorRequirement>>,
    /// Taints a node starts with and that something else removes; ignored when placing pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "taints")]
    pub startup_taints: Option<Vec<Taint>>,
    /// Taints of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "taints")]
    pub taints: Option<Vec<Taint>>,
    /// How long a node without pods is kept, in seconds; absent means for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ttl_seconds_after_empty: Option<i64>,
    /// How long a node may live, in seconds; absent means for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub ttl_seconds_until_expired: Option<i64>,
    /// Provisioners with a higher weight are tried first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub weight: Option<i32>,
}

impl ProvisionerSpec {
    /// Whether consolidation is asked for.
    #[must_use]
    pub fn consolidation_enabled(&self) -> bool {
        self.consolidation.as_ref().and_then(|consolidation| consolidation.enabled) == Some(true)
    }
}

/// Whether consolidation is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Consolidation {
    /// On or off; absent means off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// Bounds on the size of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// The most of each resource; no node is added once any of them is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "resource_list")]
    pub resources: Option<ResourceList>,
}

/// A reference to an AWSNodeTemplate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRef {
    /// The version of the template's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = PROVIDER_REF_API_VERSION))]
    pub api_version: Option<String>,
    /// The kind of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = PROVIDER_REF_KIND))]
    pub kind: Option<String>,
    /// The name of the template.
    #[schemars(length(min = 1))]
    pub name: String,
}

/// What was observed of a Provisioner. Kerf keeps it but does not read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvisionerStatus {
    /// Whether the Provisioner is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<LegacyCondition>>,
    /// When nodes were last added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_scale_time: Option<String>,
    /// What the nodes offer together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "resource_list")]
    pub resources: Option<ResourceList>,
}

/// A condition as it was written then: only type and status are certain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LegacyCondition {
    /// When the status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<String>,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// One word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How bad it is when the condition does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// What is observed.
    #[serde(rename = "type")]
    pub type_: String,
}

fn spec_rules() -> Value {
    json!([
        rule(
            "has(self.provider) != has(self.providerRef)",
            "exactly one of 'provider' and 'providerRef' must be set",
        ),
        rule(
            "!has(self.ttlSecondsAfterEmpty) || !has(self.consolidation) || \
             !has(self.consolidation.enabled) || !self.consolidation.enabled",
            "'ttlSecondsAfterEmpty' cannot be combined with 'consolidation.enabled: true', which \
             removes empty nodes by itself",
        ),
        rule(
            "!has(self.taints) || !has(self.startupTaints) || self.taints.all(x, \
             !self.startupTaints.exists(y, x.key == y.key && x.effect == y.effect))",
            "a taint and a startup taint have the same key and effect",
        ),
    ])
}

fn requirements(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": ENTRIES_MAX,
        "items": {
            "type": "object",
            "description": "A constraint on one node label.",
            "required": ["key", "operator"],
            "properties": {
                "key": {
                    "type": "string", "maxLength": 316, "pattern": patterns::QUALIFIED_NAME,
                    "description": "The label's key.",
                    "x-kubernetes-validations": labels::requirement_key_rules(),
                },
                "operator": {
                    "type": "string", "enum": OPERATORS,
                    "description": "How the label's value relates to the values given.",
                },
                "values": {
                    "type": "array",
                    "items": {
                        "type": "string", "maxLength": 63, "pattern": patterns::LABEL_VALUE,
                    },
                    "description": "The values the operator speaks of: at least one for In, one \
                        integer for Gt and Lt, none for Exists and DoesNotExist.",
                },
            },
            "x-kubernetes-validations": [
                rule(
                    "self.operator != 'In' || (has(self.values) && self.values.size() > 0)",
                    "requirements with operator 'In' must have a value defined",
                ),
                rule(
                    "!(self.operator in ['Gt', 'Lt']) || (has(self.values) && \
                     self.values.size() == 1 && self.values[0].matches('^[0-9]+$'))",
                    "requirements with operator 'Gt' or 'Lt' must have a single non-negative \
                     integer value",
                ),
            ],
        },
    })
}

fn taints(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": ENTRIES_MAX,
        "items": {
            "type": "object",
            "description": "Keeps pods that do not tolerate it off the node.",
            "required": ["effect", "key"],
            "properties": {
                "effect": {
                    "type": "string", "enum": EFFECTS,
                    "description": "What happens to pods that do not tolerate the taint.",
                },
                "key": {
                    "type": "string", "minLength": 1, "maxLength": 316,
                    "pattern": patterns::QUALIFIED_NAME,
                    "description": "The taint's key.",
                },
                "timeAdded": {
                    "type": "string", "format": "date-time",
                    "description": "When the taint was added.",
                },
                "value": { "type": "string", "description": "The taint's value." },
            },
        },
        "x-kubernetes-validations": [rule(
            "self.all(x, self.exists_one(y, x.key == y.key && x.effect == y.effect))",
            "two taints have the same key and effect",
        )],
    })
}
