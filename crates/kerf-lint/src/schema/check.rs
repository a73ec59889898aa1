//! The walk over a value beside its schema: type, enum, and then each family of keywords.

use serde_json::Value;

use crate::advice;
use crate::field_path::FieldPath;
use crate::schema::{Schema, collections, combine, numbers, strings};
use crate::violation::{Rule, RuleViolation};

/// Everything the schema has against the value, in the order an API server checks.
pub(crate) fn check(
    schema: &Schema,
    value: &Value,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    out.extend(type_problem(schema, value, path));
    if !value.is_null() {
        combine::check(schema, value, path, out);
    }
    match value {
        Value::String(text) => strings::check(schema, text, path, out),
        Value::Number(number) => numbers::check(schema, number, path, out),
        Value::Array(items) => collections::check_list(schema, items, path, out),
        Value::Object(fields) => collections::check_object(schema, fields, path, out),
        Value::Null | Value::Bool(_) => {}
    }
    out.extend(enum_problem(schema, value, path));
}

/// The name the schema language has for the value's type.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn type_problem(schema: &Schema, value: &Value, path: &FieldPath) -> Option<RuleViolation> {
    let wanted = schema.type_names();
    if has_type(schema, &wanted, value) {
        return None;
    }
    let found = type_of(value);
    let expected = match (wanted.as_slice(), &schema.format) {
        ([], Some(format)) => format.clone(),
        _ => wanted.join(" or "),
    };
    let message = match value {
        Value::Null => format!("this must be {} and is empty", with_article(&expected)),
        Value::Array(_) | Value::Object(_) => {
            format!("this must be {}, not {}", with_article(&expected), with_article(found))
        }
        scalar => {
            format!("{scalar} is {}; this must be {}", with_article(found), with_article(&expected))
        }
    };
    let instead = advice::retyped(value, &wanted).and_then(|instead| sound(schema, instead));
    Some(RuleViolation::new(path, Rule::new("type", expected), message).instead(instead).blocking())
}

/// Advice that the field's own pattern accepts. A bare number where a pattern wants more is most
/// often a duration, and then seconds are meant.
fn sound(schema: &Schema, instead: String) -> Option<String> {
    let text = instead.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let (Some(text), Some(pattern)) = (text, &schema.pattern) else { return Some(instead) };
    let in_seconds = format!("{text}s");
    match (pattern.accepts(text), pattern.accepts(&in_seconds)) {
        (true, _) => Some(instead),
        (false, true) => Some(in_seconds),
        (false, false) => None,
    }
}

/// Mirrors the server's type validator, including what it lets through: a list where a string
/// with a format is wanted passes here, and a whole number may be written as `1.0`.
fn has_type(schema: &Schema, wanted: &[&str], value: &Value) -> bool {
    let formatted = schema.format.is_some();
    if wanted.is_empty() && !formatted {
        return true;
    }
    let found = type_of(value);
    match value {
        Value::Null => wanted.is_empty() || schema.nullable,
        Value::String(_) | Value::Array(_)
            if formatted && !wanted.contains(&"integer") && !wanted.contains(&"number") =>
        {
            true
        }
        Value::Number(number) if found == "number" => {
            wanted.contains(&"number")
                || (wanted.contains(&"integer") && numbers::is_whole(number.as_f64()))
        }
        Value::Number(_) => wanted.contains(&"integer") || wanted.contains(&"number"),
        _ => wanted.contains(&found),
    }
}

pub(crate) fn with_article(type_name: &str) -> String {
    match type_name.as_bytes().first() {
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => format!("an {type_name}"),
        _ => format!("a {type_name}"),
    }
}

fn enum_problem(schema: &Schema, value: &Value, path: &FieldPath) -> Option<RuleViolation> {
    if schema.allowed.is_empty() || schema.allowed.iter().any(|one| same(one, value)) {
        return None;
    }
    let names: Vec<String> = schema.allowed.iter().map(plain).collect();
    let message = format!("{value} is not one of {}", names.join(", "));
    let instead = advice::nearest(&plain(value), names.iter().map(String::as_str));
    let problem = RuleViolation::new(path, Rule::named("enum"), message).blocking();
    Some(problem.instead(instead.map(str::to_owned)))
}

/// Equality as the server sees it: null equals nothing, numbers compare by value.
fn same(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Null, _) => false,
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        _ => allowed == value,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
