//! Quantities as they stand in manifests: a number or text, kept as written.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::patterns;

/// A resource quantity exactly as the manifest wrote it: `1000` or `"1Gi"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A bare integer.
    Int(i64),
    /// Text with an optional suffix.
    Text(String),
}

/// Resource name to quantity.
pub type ResourceList = BTreeMap<String, Quantity>;

impl Quantity {
    /// The quantity as text, for parsing.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl JsonSchema for Quantity {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantity".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-kubernetes-int-or-string": true,
            "pattern": patterns::QUANTITY,
        })
    }
}

/// A map from resource name to quantity.
pub(crate) fn resource_list(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": Quantity::json_schema(generator),
    })
}
