//! NodePool: which nodes may be made, how many, and how they may be taken away.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Taint;
use kerf_model::budget as model;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::node_class_ref::{NodeClassRef, pool_node_class_ref};
use crate::schema::condition::{Condition, conditions};
use crate::schema::label_domains::template_label_rules;
use crate::schema::patterns;
use crate::schema::quantity::{ResourceList, resource_list};
use crate::schema::requirement::{Requirement, pool_requirements};
use crate::schema::rules::rule;
use crate::schema::taint::taints;

/// How long a node must be quiet unless the pool says otherwise.
pub(crate) const CONSOLIDATE_AFTER_DEFAULT: &str = "0s";
/// How many nodes may be disrupted at once unless the pool says otherwise.
const BUDGET_NODES_DEFAULT: &str = "10%";

/// What a NodePool asks for.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.sh",
    version = "v1",
    kind = "NodePool",
    plural = "nodepools",
    category = "karpenter",
    doc = "A NodePool says which nodes may be made, how many, and how they may be taken away.",
    status = "NodePoolStatus",
    derive = "PartialEq",
    derive = "Default",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.nodes"),
    printcolumn(
        name = "NodeClass",
        type_ = "string",
        json_path = ".spec.template.spec.nodeClassRef.name"
    ),
    printcolumn(name = "Nodes", type_ = "string", json_path = ".status.nodes"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight", priority = 1),
    printcolumn(name = "CPU", type_ = "string", json_path = ".status.resources.cpu", priority = 1),
    printcolumn(
        name = "Memory",
        type_ = "string",
        json_path = ".status.resources.memory",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = spec_rules()))]
pub struct NodePoolSpec {
    /// When nodes of this pool may be disrupted, and how many at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = json!({ "consolidateAfter": CONSOLIDATE_AFTER_DEFAULT })))]
    pub disruption: Option<Disruption>,
    /// The most of each resource all nodes of the pool may have together; `nodes` counts nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "resource_list")]
    pub limits: Option<ResourceList>,
    /// Keep exactly this many nodes, whatever the pods need. A pool with replicas is static.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i64>,
    /// The shape of the nodes.
    pub template: Template,
    /// Pools with a higher weight are tried first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub weight: Option<i32>,
}

fn spec_rules() -> Value {
    json!([
        rule(
            "has(self.replicas) == has(oldSelf.replicas)",
            "cannot transition between static (replicas set) and dynamic (replicas unset) \
             provisioning modes",
        ),
        rule(
            "!has(self.replicas) || !has(self.limits) || self.limits.all(x, x == 'nodes')",
            "only 'limits.nodes' is supported on static NodePools",
        ),
        rule(
            "!has(self.replicas) || !has(self.weight)",
            "'weight' is not supported on static NodePools",
        ),
    ])
}

/// When and how fast nodes may be taken away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// Bounds on how many nodes may be disrupted at once; the strictest that applies holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 50),
        extend(
            "default" = json!([{ "nodes": BUDGET_NODES_DEFAULT }]),
            "x-kubernetes-list-type" = "atomic",
            "x-kubernetes-validations" = [rule(
                "self.all(x, has(x.schedule) == has(x.duration))",
                "'schedule' must be set with 'duration'",
            )],
        )
    )]
    pub budgets: Option<Vec<Budget>>,
    /// How long a node must have seen no pod come or go before it may be consolidated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::DURATION_OR_NEVER), extend("default" = CONSOLIDATE_AFTER_DEFAULT))]
    pub consolidate_after: Option<String>,
    /// Which nodes consolidation may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "WhenEmptyOrUnderutilized"))]
    pub consolidation_policy: Option<ConsolidationPolicy>,
}

/// Which nodes consolidation may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("type" = "string"))]
pub enum ConsolidationPolicy {
    /// Only nodes without pods that would have to move.
    WhenEmpty,
    /// Also nodes whose pods fit elsewhere or on a cheaper node.
    WhenEmptyOrUnderutilized,
    /// As the former, when the saving is worth the disruption.
    Balanced,
}

/// A bound on nodes disrupted at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// How long the budget is active from each start of its schedule; hours and minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::BUDGET_DURATION))]
    pub duration: Option<String>,
    /// A count, or a percentage of the pool's nodes.
    #[serde(default = "default_budget_nodes")]
    #[schemars(regex(pattern = patterns::BUDGET_NODES))]
    pub nodes: String,
    /// The kinds of disruption this bounds; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "set"))]
    pub reasons: Option<Vec<DisruptionReason>>,
    /// When the budget becomes active: five cron fields or a macro, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::BUDGET_SCHEDULE))]
    pub schedule: Option<String>,
}

fn default_budget_nodes() -> String {
    BUDGET_NODES_DEFAULT.to_owned()
}

impl Default for Budget {
    fn default() -> Self {
        Self { duration: None, nodes: default_budget_nodes(), reasons: None, schedule: None }
    }
}

/// Why a node is disrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("type" = "string"))]
pub enum DisruptionReason {
    /// Its pods fit elsewhere or on a cheaper node.
    Underutilized,
    /// It holds no pod that would have to move.
    Empty,
    /// It no longer looks as its pool or node class asks.
    Drifted,
    /// A condition of it says that it does not work.
    Unhealthy,
}

impl DisruptionReason {
    /// The word in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        model::DisruptionReason::from(self).as_str()
    }
}

impl From<DisruptionReason> for model::DisruptionReason {
    fn from(reason: DisruptionReason) -> Self {
        match reason {
            DisruptionReason::Underutilized => Self::Underutilized,
            DisruptionReason::Empty => Self::Empty,
            DisruptionReason::Drifted => Self::Drifted,
            DisruptionReason::Unhealthy => Self::Unhealthy,
        }
    }
}

impl From<model::DisruptionReason> for DisruptionReason {
    fn from(reason: model::DisruptionReason) -> Self {
        match reason {
            model::DisruptionReason::Underutilized => Self::Underutilized,
            model::DisruptionReason::Empty => Self::Empty,
            model::DisruptionReason::Drifted => Self::Drifted,
            model::DisruptionReason::Unhealthy => Self::Unhealthy,
        }
    }
}

/// The shape of a pool's nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    /// Labels and annotations every node gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What the nodes are made of.
    pub spec: TemplateSpec,
}

/// Labels and annotations every node of a pool gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemplateMetadata {
    /// Annotations for the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// Labels for the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "maxProperties" = 100,
        "additionalProperties" = json!({
            "type": "string", "maxLength": 63, "pattern": patterns::LABEL_VALUE,
        }),
        "x-kubernetes-map-type" = "atomic",
        "x-kubernetes-validations" = template_label_rules(),
    ))]
    pub labels: Option<BTreeMap<String, String>>,
}

/// What the nodes of a pool are made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSpec {
    /// How long a node may live before it is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::DURATION_OR_NEVER), extend("default" = "720h"))]
    pub expire_after: Option<String>,
    /// The provider's settings for the nodes.
    #[schemars(schema_with = "pool_node_class_ref")]
    pub node_class_ref: NodeClassRef,
    /// Constraints on the labels of the nodes.
    #[schemars(schema_with = "pool_requirements")]
    pub requirements: Vec<Requirement>,
    /// Taints a node starts with and that something else removes; ignored when placing pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "taints")]
    pub startup_taints: Option<Vec<Taint>>,
    /// Taints of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "taints")]
    pub taints: Option<Vec<Taint>>,
    /// The longest a node may take to drain before its pods are deleted by force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::DURATION))]
    pub termination_grace_period: Option<String>,
}

/// What was observed of a NodePool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// Whether the pool is valid, its node class ready, and its nodes register.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "conditions")]
    pub conditions: Option<Vec<Condition>>,
    /// The generation of the node class the registration health was observed for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_class_observed_generation: Option<i64>,
    /// How many nodes the pool has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 0))]
    pub nodes: Option<i64>,
    /// What the nodes of the pool offer together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "resource_list")]
    pub resources: Option<ResourceList>,
}
