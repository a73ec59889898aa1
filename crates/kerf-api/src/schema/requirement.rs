//! Requirement entries of pools, claims and overlays.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{label_domains, patterns, rules::rule};

/// Every operator an entry may use.
pub const OPERATORS: [&str; 8] =
    ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"];

/// Most entries one object may list.
const ENTRIES_MAX: u32 = 100;
/// Most distinct values a person may ask to keep available.
const MIN_VALUES_MAX: u32 = 50;

/// One constraint on a node label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// How the label's value relates to `values`; one of [`OPERATORS`].
    pub operator: String,
    /// The values the operator speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// How many distinct values of this label the instance types left to choose from must offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_values: Option<i64>,
}

/// The requirements of a pool's template.
pub(crate) fn pool_requirements(_: &mut SchemaGenerator) -> Schema {
    requirements(label_domains::pool_requirement_key_rules(), Some(min_values()), entry_rules())
}

/// The requirements of a claim.
pub(crate) fn claim_requirements(_: &mut SchemaGenerator) -> Schema {
    requirements(label_domains::claim_requirement_key_rules(), Some(min_values()), entry_rules())
}

/// The requirements of an overlay: no minimum, and `NotIn` must name what it excludes.
pub(crate) fn overlay_requirements(_: &mut SchemaGenerator) -> Schema {
    let rules = vec![
        in_needs_a_value(),
        rule(
            "self.operator != 'NotIn' || (has(self.values) && self.values.size() > 0)",
            "requirements with operator 'NotIn' must have a value defined",
        ),
        bounds_need_one_integer(),
    ];
    requirements(label_domains::overlay_requirement_key_rules(), None, rules)
}

fn entry_rules() -> Vec<Value> {
    vec![
        in_needs_a_value(),
        bounds_need_one_integer(),
        rule(
            "!(self.operator == 'In' && has(self.minValues)) || \
             (has(self.values) && self.values.size() >= self.minValues)",
            "requirements with 'minValues' must have at least that many values specified in the \
             'values' field",
        ),
    ]
}

fn in_needs_a_value() -> Value {
    rule(
        "self.operator != 'In' || (has(self.values) && self.values.size() > 0)",
        "requirements with operator 'In' must have a value defined",
    )
}

fn bounds_need_one_integer() -> Value {
    rule(
        "!(self.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || \
         (has(self.values) && self.values.size() == 1 && int(self.values[0]) >= 0)",
        "requirements operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single positive integer value",
    )
}

fn min_values() -> Value {
    json!({
        "type": "integer", "format": "int64", "minimum": 1, "maximum": MIN_VALUES_MAX,
        "description": "How many distinct values of this label must stay available among the \
            instance types a launch may choose from.",
    })
}

fn requirements(key_rules: Value, min_values: Option<Value>, rules: Vec<Value>) -> Schema {
    let mut properties = json!({
        "key": {
            "type": "string", "maxLength": 316, "pattern": patterns::QUALIFIED_NAME,
            "description": "The label's key.",
            "x-kubernetes-validations": key_rules,
        },
        "operator": {
            "type": "string", "enum": OPERATORS,
            "description": "How the label's value relates to the values given.",
        },
        // Length and form of the values are checked by the controller: the public API attaches
        // those rules to the array, where an API server ignores them.
        "values": {
            "type": "array", "items": { "type": "string" },
            "x-kubernetes-list-type": "atomic",
            "description": "The values the operator speaks of: at least one for In, one integer \
                for Gt, Lt, Gte and Lte, none for Exists and DoesNotExist.",
        },
    });
    if let Some(min_values) = min_values {
        properties["minValues"] = min_values;
    }
    json_schema!({
        "type": "array",
        "maxItems": ENTRIES_MAX,
        "x-kubernetes-list-type": "atomic",
        "items": {
            "type": "object",
            "description": "A constraint on one node label.",
            "required": ["key", "operator"],
            "properties": properties,
            "x-kubernetes-validations": rules,
        },
    })
}
