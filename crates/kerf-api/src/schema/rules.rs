//! Building blocks for `x-kubernetes-validations`.

use serde_json::{Value, json};

/// One CEL rule with the sentence a person reads when it fails.
pub(crate) fn rule(rule: &str, message: &str) -> Value {
    json!({ "rule": rule, "message": message })
}

/// A CEL list literal of strings.
pub(crate) fn cel_list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = items.into_iter().map(|item| format!("\"{item}\"")).collect();
    format!("[{}]", quoted.join(", "))
}
