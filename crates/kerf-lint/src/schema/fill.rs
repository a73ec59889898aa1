//! What an API server does to an object before it checks it: drops nulls that mean "not set" and
//! fills in defaults.

use serde_json::{Map, Value};

use crate::schema::{Additional, Schema};

/// Drops nulls, then fills in defaults, in that order.
pub(crate) fn fill(schema: &Schema, object: &mut Value) {
    drop_nulls(object, Some(schema));
    apply_defaults(object, schema);
}

/// A null field that is not nullable and has no default counts as absent. Nulls in lists stay.
fn drop_nulls(value: &mut Value, schema: Option<&Schema>) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| {
                let inner = schema.and_then(|schema| schema.below(name));
                let counts_as_absent = value.is_null()
                    && inner.is_some_and(|inner| !inner.nullable && inner.default.is_none());
                if !counts_as_absent {
                    drop_nulls(value, inner);
                }
                !counts_as_absent
            });
        }
        Value::Array(items) => {
            let inner = schema.and_then(|schema| schema.items.as_deref());
            items.iter_mut().for_each(|item| drop_nulls(item, inner));
        }
        _ => {}
    }
}

fn apply_defaults(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(fields) => default_fields(fields, schema),
        Value::Array(items) => {
            let Some(inner) = schema.items.as_deref() else { return };
            for item in items {
                replace_null(item, inner);
                apply_defaults(item, inner);
            }
        }
        _ => {}
    }
}

fn default_fields(fields: &mut Map<String, Value>, schema: &Schema) {
    for (name, property) in &schema.properties {
        let Some(default) = &property.default else { continue };
        let unset = fields.get(name).is_none_or(|v| v.is_null() && !property.nullable);
        if unset {
            fields.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in fields.iter_mut() {
        match (schema.properties.get(name), &schema.additional) {
            (Some(property), _) => apply_defaults(value, property),
            (None, Additional::Schema(inner)) => {
                replace_null(value, inner);
                apply_defaults(value, inner);
            }
            (None, _) => {}
        }
    }
}

fn replace_null(value: &mut Value, schema: &Schema) {
    if let (true, false, Some(default)) = (value.is_null(), schema.nullable, &schema.default) {
        *value = default.clone();
    }
}
