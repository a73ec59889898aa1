//! NodeClaim: one node that Kerf wants, launches and follows to its end.

use k8s_openapi::api::core::v1::Taint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::node_class_ref::{NodeClassRef, claim_node_class_ref};
use crate::schema::condition::{Condition, claim_conditions};
use crate::schema::patterns;
use crate::schema::quantity::{ResourceList, resource_list};
use crate::schema::requirement::{Requirement, claim_requirements};
use crate::schema::rules::rule;
use crate::schema::taint::taints;

/// What a NodeClaim asks for; never changes once written.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.sh",
    version = "v1",
    kind = "NodeClaim",
    plural = "nodeclaims",
    category = "karpenter",
    doc = "A NodeClaim is one node that is wanted, launched and followed to its end.",
    status = "NodeClaimStatus",
    derive = "PartialEq",
    derive = "Default",
    printcolumn(
        name = "Type",
        type_ = "string",
        json_path = ".metadata.labels.node\\.kubernetes\\.io/instance-type"
    ),
    printcolumn(
        name = "Capacity",
        type_ = "string",
        json_path = ".metadata.labels.karpenter\\.sh/capacity-type"
    ),
    printcolumn(
        name = "Zone",
        type_ = "string",
        json_path = ".metadata.labels.topology\\.kubernetes\\.io/zone"
    ),
    printcolumn(name = "Node", type_ = "string", json_path = ".status.nodeName"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "ImageID", type_ = "string", json_path = ".status.imageID", priority = 1),
    printcolumn(name = "ID", type_ = "string", json_path = ".status.providerID", priority = 1),
    printcolumn(
        name = "NodePool",
        type_ = "string",
        json_path = ".metadata.labels.karpenter\\.sh/nodepool",
        priority = 1
    ),
    printcolumn(
        name = "NodeClass",
        type_ = "string",
        json_path = ".spec.nodeClassRef.name",
        priority = 1
    ),
    printcolumn(
        name = "Drifted",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Drifted\")].status",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [rule("self == oldSelf", "spec is immutable")]))]
pub struct NodeClaimSpec {
    /// How long the node may live before it is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::DURATION_OR_NEVER), extend("default" = "720h"))]
    pub expire_after: Option<String>,
    /// The provider's settings for the node.
    #[schemars(schema_with = "claim_node_class_ref")]
    pub node_class_ref: NodeClassRef,
    /// Constraints on the labels of the node.
    #[schemars(schema_with = "claim_requirements")]
    pub requirements: Vec<Requirement>,
    /// What the node must at least offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ClaimResources>,
    /// Taints the node starts with and that something else removes; ignored when placing pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "taints")]
    pub startup_taints: Option<Vec<Taint>>,
    /// Taints of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "taints")]
    pub taints: Option<Vec<Taint>>,
    /// The longest the node may take to drain before its pods are deleted by force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::DURATION))]
    pub termination_grace_period: Option<String>,
}

/// What a claim's node must at least offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimResources {
    /// The sum of what the pods meant for the node request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "resource_list")]
    pub requests: Option<ResourceList>,
}

/// What was observed of a NodeClaim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimStatus {
    /// What the node offers to pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "resource_list")]
    pub allocatable: Option<ResourceList>,
    /// What the node has in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "resource_list")]
    pub capacity: Option<ResourceList>,
    /// How far the claim has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "claim_conditions")]
    pub conditions: Option<Vec<Condition>>,
    /// The image the node was started from.
    #[serde(default, rename = "imageID", skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
    /// When a pod last came to or left the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub last_pod_event_time: Option<Time>,
    /// The Node object of this claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// The provider's name for the instance.
    #[serde(default, rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
}
