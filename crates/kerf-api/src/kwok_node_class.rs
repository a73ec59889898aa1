//! KWOKNodeClass: nodes that exist in the API server alone, animated by kwok.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::condition::{Condition, conditions};
use crate::schema::patterns;

/// What a KWOKNodeClass asks for: nothing is a good answer, so the whole spec may be left out.
#[derive(
    CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "karpenter.kwok.sh",
    version = "v1alpha1",
    kind = "KWOKNodeClass",
    plural = "kwoknodeclasses",
    singular = "kwoknodeclass",
    shortname = "kwoknc",
    shortname = "kwokncs",
    category = "karpenter",
    doc = "A KWOKNodeClass says how simulated nodes come to be.",
    status = "KWOKNodeClassStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("default" = json!({})))]
pub struct KWOKNodeClassSpec {
    /// How long a simulated instance takes until its node appears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = patterns::DURATION))]
    pub node_registration_delay: Option<String>,
}

/// What was observed of a KWOKNodeClass. Nothing has to be found first, so the schema itself says
/// that a new class is ready.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("default" = json!({ "conditions": ready() })))]
pub struct KWOKNodeClassStatus {
    /// Whether the class is ready for launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "conditions", extend("default" = ready()))]
    pub conditions: Option<Vec<Condition>>,
}

/// The time stands for "always": a default in a schema cannot know when an object was made.
fn ready() -> Value {
    json!([{
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": "2024-01-01T00:00:00Z",
        "reason": "Ready",
        "message": "",
    }])
}
