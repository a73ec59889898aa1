//! The taints of a template, under Kerf's admission rules.

use schemars::{Schema, SchemaGenerator, json_schema};

use super::patterns;

/// A list of taints with checked key, value and effect.
pub(crate) fn taints(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "atomic",
        "items": {
            "type": "object",
            "description": "Keeps pods that do not tolerate it off the node.",
            "required": ["effect", "key"],
            "properties": {
                "effect": {
                    "type": "string",
                    "enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"],
                    "description": "What happens to pods that do not tolerate the taint.",
                },
                "key": {
                    "type": "string", "minLength": 1, "pattern": patterns::QUALIFIED_NAME,
                    "description": "The taint's key.",
                },
                "timeAdded": {
                    "type": "string", "format": "date-time",
                    "description": "When the taint was added.",
                },
                "value": {
                    "type": "string", "pattern": patterns::QUALIFIED_NAME,
                    "description": "The taint's value; leave it out rather than empty.",
                },
            },
        },
    })
}
