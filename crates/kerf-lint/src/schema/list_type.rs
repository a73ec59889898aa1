//! `x-kubernetes-list-type`: no value twice in a set, no key twice in a map.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::field_path::FieldPath;
use crate::schema::{Additional, ListType, Schema};
use crate::violation::{Rule, RuleViolation};

/// Reports repeated items of sets and maps anywhere in the value.
pub(crate) fn check(
    schema: &Schema,
    value: &Value,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (schema.properties.get(name), &schema.additional) {
                    (Some(property), _) => check(property, value, &path.field(name), out),
                    (None, Additional::Schema(inner)) => check(inner, value, &path.key(name), out),
                    (None, _) => {}
                }
            }
        }
        Value::Array(items) => {
            check_items(schema, items, path, out);
            if let Some(inner) = &schema.items {
                for (place, item) in items.iter().enumerate() {
                    check(inner, item, &path.index(place), out);
                }
            }
        }
        _ => {}
    }
}

fn check_items(schema: &Schema, items: &[Value], path: &FieldPath, out: &mut Vec<RuleViolation>) {
    match &schema.list_type {
        ListType::Atomic => {}
        ListType::Set => report_repeats(items.to_vec(), "set", path, out),
        ListType::Map(keys) => {
            let odd = items.iter().position(|item| !item.is_object() && !item.is_null());
            if let Some(place) = odd {
                let rule = Rule::new("x-kubernetes-list-type", "map");
                let message = "each item of this list must be a mapping";
                out.push(RuleViolation::new(&path.index(place), rule, message));
                return;
            }
            let keyed = items.iter().map(|item| key_of(item, keys)).collect();
            report_repeats(keyed, "map", path, out);
        }
    }
}

fn key_of(item: &Value, keys: &[String]) -> Value {
    let named = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(named.collect::<Map<_, _>>())
}

/// One report for each value that is repeated, at its second place.
fn report_repeats(
    values: Vec<Value>,
    list_type: &'static str,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    let mut first_places: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for (place, value) in values.iter().enumerate() {
        let text = value.to_string();
        let Some((first, reported)) = first_places.get_mut(&text) else {
            first_places.insert(text, (place, false));
            continue;
        };
        if *reported {
            continue;
        }
        *reported = true;
        let message = format!("{text} is already in this list, at [{first}]");
        let rule = Rule::new("x-kubernetes-list-type", list_type);
        let problem = RuleViolation::new(&path.index(place), rule, message);
        out.push(problem.instead("remove one of the two".to_owned()));
    }
}
