//! JSON values as CEL values, typed by the schema as an API server types them.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::objects::{Key, Map as CelMap};
use kube_cel::cel::{Context, Value as CelValue};
use serde_json::{Map, Number, Value};

use super::{escape, functions};
use crate::schema::{Additional, Schema};

/// The value as a rule sees it. `whole` marks an object with `apiVersion`, `kind` and `metadata`.
pub(super) fn to_cel(
    value: &Value,
    schema: &Schema,
    whole: bool,
    context: &Context<'_>,
) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Number(number) => number_to_cel(number, schema.type_name.as_deref()),
        Value::String(text) => string_to_cel(text, schema, context),
        Value::Array(items) => {
            let items = items.iter().map(|item| match &schema.items {
                Some(inner) => to_cel(item, inner, inner.embedded_resource, context),
                None => untyped(item),
            });
            CelValue::List(Arc::new(items.collect()))
        }
        Value::Object(fields) => object_to_cel(fields, schema, whole, context),
    }
}

/// A field without a schema keeps the types JSON gives it.
fn untyped(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Number(number) => number_to_cel(number, None),
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(untyped).collect())),
        Value::Object(fields) => {
            map_of(fields.iter().map(|(name, value)| (name.clone(), untyped(value))))
        }
    }
}

fn number_to_cel(number: &Number, type_name: Option<&str>) -> CelValue {
    match number.as_i64() {
        Some(whole) if type_name != Some("number") => CelValue::Int(whole),
        _ => {
            let value = number.as_f64().unwrap_or(f64::NAN);
            // A whole number written `1.0` in an integer field has been accepted as an integer.
            if type_name == Some("integer") && value.fract() == 0.0 && value.abs() < 9.0e15 {
                return CelValue::Int(value as i64);
            }
            CelValue::Float(value)
        }
    }
}

fn string_to_cel(text: &str, schema: &Schema, context: &Context<'_>) -> CelValue {
    let plain = || CelValue::String(Arc::new(text.to_owned()));
    match schema.format.as_deref() {
        Some("datetime") => functions::timestamp(text, context).unwrap_or_else(plain),
        Some("date") => {
            functions::timestamp(&format!("{text}T00:00:00Z"), context).unwrap_or_else(plain)
        }
        Some("duration") => functions::duration(text, context).unwrap_or_else(plain),
        Some("byte") => functions::bytes(text, context).unwrap_or_else(plain),
        _ => plain(),
    }
}

fn object_to_cel(
    fields: &Map<String, Value>,
    schema: &Schema,
    whole: bool,
    context: &Context<'_>,
) -> CelValue {
    let is_map = schema.properties.is_empty() && !matches!(schema.additional, Additional::Unnamed);
    if is_map {
        return map_of(fields.iter().map(|(key, value)| {
            let value = match &schema.additional {
                Additional::Schema(inner) => to_cel(value, inner, inner.embedded_resource, context),
                _ => untyped(value),
            };
            (key.clone(), value)
        }));
    }
    let mut visible: Vec<(String, CelValue)> = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        let converted = match schema.properties.get(name) {
            _ if whole && name == "metadata" => metadata(value),
            Some(inner) => to_cel(value, inner, inner.embedded_resource, context),
            None if whole && matches!(name.as_str(), "apiVersion" | "kind") => untyped(value),
            None if schema.preserve_unknown => untyped(value),
            None => continue,
        };
        visible.extend(escape::identifier(name).map(|name| (name, converted)));
    }
    map_of(visible.into_iter())
}

/// Of an object's metadata a rule sees the name alone.
fn metadata(value: &Value) -> CelValue {
    let names = ["name", "generateName"].into_iter();
    map_of(names.filter_map(|name| Some((name.to_owned(), untyped(value.get(name)?)))))
}

fn map_of(fields: impl Iterator<Item = (String, CelValue)>) -> CelValue {
    let map: HashMap<Key, CelValue> =
        fields.map(|(name, value)| (Key::String(Arc::new(name)), value)).collect();
    CelValue::Map(CelMap { map: Arc::new(map) })
}
