//! The reference from a pool or claim to the provider's own settings object.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema::rules::rule;

/// Which node class a node is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClassRef {
    /// The API group of the node class, without a version.
    pub group: String,
    /// The kind of the node class.
    pub kind: String,
    /// The name of the node class.
    pub name: String,
}

/// The reference in a pool: its name may change, what kind of thing it names may not.
pub(crate) fn pool_node_class_ref(_: &mut SchemaGenerator) -> Schema {
    node_class_ref(json!([
        rule("self.group == oldSelf.group", "nodeClassRef.group is immutable"),
        rule("self.kind == oldSelf.kind", "nodeClassRef.kind is immutable"),
    ]))
}

/// The reference in a claim, whose whole spec is immutable anyway.
pub(crate) fn claim_node_class_ref(_: &mut SchemaGenerator) -> Schema {
    node_class_ref(json!([]))
}

fn node_class_ref(rules: Value) -> Schema {
    let part = |name: &str, description: &str| {
        json!({
            "type": "string",
            "description": description,
            "x-kubernetes-validations": [rule("self != ''", &format!("{name} may not be empty"))],
        })
    };
    let mut group = part("group", "The API group of the node class, without a version.");
    group["pattern"] = json!("^[^/]*$");
    let mut schema = json_schema!({
        "type": "object",
        "required": ["group", "kind", "name"],
        "properties": {
            "group": group,
            "kind": part("kind", "The kind of the node class."),
            "name": part("name", "The name of the node class."),
        },
    });
    if rules.as_array().is_some_and(|rules| !rules.is_empty()) {
        schema.insert("x-kubernetes-validations".into(), rules);
    }
    schema
}
