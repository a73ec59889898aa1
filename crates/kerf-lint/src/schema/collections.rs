//! Lists and objects: how many, which are required, and the walk into each value.

use serde_json::{Map, Value};

use crate::field_path::FieldPath;
use crate::schema::check::check;
use crate::schema::{Additional, Schema};
use crate::violation::{Rule, RuleViolation};

pub(super) fn check_list(
    schema: &Schema,
    items: &[Value],
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    if let Some(item_schema) = &schema.items {
        for (place, item) in items.iter().enumerate() {
            check(item_schema, item, &path.index(place), out);
        }
    }
    let count = items.len() as u64;
    if let Some(min) = schema.bounds.min_items.filter(|min| count < *min) {
        let message = format!("this list has {}; at least {min} needed", counted(count, "item"));
        out.push(RuleViolation::new(path, Rule::new("minItems", min), message));
    }
    if let Some(max) = schema.bounds.max_items.filter(|max| count > *max) {
        let message = format!("this list has {}; at most {max} allowed", counted(count, "item"));
        out.push(RuleViolation::new(path, Rule::new("maxItems", max), message).blocking());
    }
}

pub(super) fn check_object(
    schema: &Schema,
    fields: &Map<String, Value>,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    check_count(schema, fields.len() as u64, path, out);
    for (name, value) in fields {
        match (schema.properties.get(name), &schema.additional) {
            (Some(property), _) => check(property, value, &path.field(name), out),
            (None, Additional::Schema(inner)) => check(inner, value, &path.key(name), out),
            (None, Additional::Flag(false)) => {
                let message = format!("{name:?} is not allowed here");
                let rule = Rule::new("additionalProperties", false);
                out.push(RuleViolation::new(&path.field(name), rule, message).at_key());
            }
            (None, _) => {}
        }
    }
    for name in schema.required.iter().filter(|name| !fields.contains_key(*name)) {
        out.push(missing(schema, name, path));
    }
}

fn check_count(schema: &Schema, count: u64, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    if let Some(min) = schema.bounds.min_properties.filter(|min| count < *min) {
        let message = format!("this has {}; at least {min} needed", counted(count, "field"));
        out.push(RuleViolation::new(path, Rule::new("minProperties", min), message));
    }
    if let Some(max) = schema.bounds.max_properties.filter(|max| count > *max) {
        let message = format!("this has {}; at most {max} allowed", counted(count, "field"));
        out.push(RuleViolation::new(path, Rule::new("maxProperties", max), message).blocking());
    }
}

fn missing(schema: &Schema, name: &str, path: &FieldPath) -> RuleViolation {
    let property = schema.properties.get(name);
    let instead = property.and_then(example_of).map(|example| format!("{name}: {example}"));
    let message = format!("the field {name:?} is required and missing");
    RuleViolation::new(&path.field(name), Rule::named("required"), message)
        .instead(instead)
        .blocking()
}

/// A value to start from where the schema makes one evident.
fn example_of(schema: &Schema) -> Option<String> {
    let first = schema.allowed.first();
    match (schema.default.as_ref().or(first)?, schema.allowed.len()) {
        (Value::String(text), 0 | 1) => Some(text.clone()),
        (Value::String(text), _) => Some(format!("{text} (or another of the allowed values)")),
        (other, _) => Some(other.to_string()),
    }
}

fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
