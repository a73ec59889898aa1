//! Status conditions: the type, and the two schemas it is stored under.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::patterns;

/// One observed aspect of an object's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What is observed, for example `Ready`.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// The generation of the spec this was observed for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When `status` last changed.
    pub last_transition_time: Time,
    /// One word for programs.
    #[serde(default)]
    pub reason: String,
    /// One sentence for people.
    #[serde(default)]
    pub message: String,
}

/// The standard condition list: every field but the generation is required.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    condition_list(
        patterns::CONDITION_REASON,
        1,
        &["lastTransitionTime", "message", "reason", "status", "type"],
    )
}

/// The NodeClaim's condition list: reason and message may be left out or empty.
pub(crate) fn claim_conditions(_: &mut SchemaGenerator) -> Schema {
    condition_list(
        patterns::OPTIONAL_CONDITION_REASON,
        0,
        &["lastTransitionTime", "status", "type"],
    )
}

fn condition_list(reason_pattern: &str, reason_min_length: u32, required: &[&str]) -> Schema {
    let mut reason = json_schema!({
        "type": "string",
        "description": "One word for programs that says why the condition has its status.",
        "maxLength": 1024,
        "pattern": reason_pattern,
    });
    if reason_min_length > 0 {
        reason.insert("minLength".into(), reason_min_length.into());
    }
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "description": "One observed aspect of the object's state.",
            "required": required,
            "properties": {
                "lastTransitionTime": {
                    "type": "string", "format": "date-time",
                    "description": "When the status last changed.",
                },
                "message": {
                    "type": "string", "maxLength": 32768,
                    "description": "A sentence for people about the status.",
                },
                "observedGeneration": {
                    "type": "integer", "format": "int64", "minimum": 0,
                    "description": "The generation of the spec this was observed for.",
                },
                "reason": reason,
                "status": {
                    "type": "string", "enum": ["True", "False", "Unknown"],
                    "description": "Whether the condition holds.",
                },
                "type": {
                    "type": "string", "maxLength": 316, "pattern": patterns::CONDITION_TYPE,
                    "description": "What is observed, in CamelCase.",
                },
            },
        },
    })
}
