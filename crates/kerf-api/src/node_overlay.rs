//! NodeOverlay: corrections to the price and capacity of instance types.

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::condition::{Condition, conditions};
use crate::schema::patterns;
use crate::schema::quantity::{ResourceList, resource_list};
use crate::schema::requirement::{Requirement, overlay_requirements};
use crate::schema::rules::rule;

/// The resources an overlay may not change: the scheduler derives them from the instance type.
pub const FIXED_RESOURCES: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pods"];

/// What a NodeOverlay changes, and where.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "karpenter.sh",
    version = "v1alpha1",
    kind = "NodeOverlay",
    plural = "nodeoverlays",
    shortname = "overlays",
    category = "karpenter",
    doc = "A NodeOverlay corrects the price or adds to the capacity of matching instance types.",
    status = "NodeOverlayStatus",
    derive = "PartialEq",
    derive = "Default",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = spec_rules()))]
pub struct NodeOverlaySpec {
    /// Resources the matching instance types have beyond what the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "extra_capacity")]
    pub capacity: Option<ResourceList>,
    /// The price per hour, in place of the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::PRICE))]
    pub price: Option<String>,
    /// A change to the price: a signed amount, or a signed percentage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::PRICE_ADJUSTMENT))]
    pub price_adjustment: Option<String>,
    /// Which instance types and offerings are meant; an empty list means all.
    #[schemars(schema_with = "overlay_requirements")]
    pub requirements: Vec<Requirement>,
    /// Where overlays overlap, the one with the highest weight wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10000))]
    pub weight: Option<i32>,
}

/// What was observed of a NodeOverlay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeOverlayStatus {
    /// Whether the overlay is valid and in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "conditions")]
    pub conditions: Option<Vec<Condition>>,
}

fn spec_rules() -> Value {
    json!([rule(
        "!has(self.price) || !has(self.priceAdjustment)",
        "cannot set both 'price' and 'priceAdjustment'",
    )])
}

fn extra_capacity(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = resource_list(generator);
    let fixed: Vec<String> = FIXED_RESOURCES.iter().map(|name| format!("'{name}'")).collect();
    let rule = rule(
        &format!("self.all(x, !(x in [{}]))", fixed.join(", ")),
        "invalid resource restricted",
    );
    schema.insert("x-kubernetes-validations".into(), json!([rule]));
    schema
}
