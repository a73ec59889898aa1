//! Lists and maps. Neither holds another: nothing then costs more to look at than to make.

use std::collections::BTreeMap;

use super::{Function, count, joined, list, one, text, three, two};
use crate::webhook::template::value::Value;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("len", |arguments| {
        let length = match one(arguments)? {
            Value::Text(text) => text.len(),
            Value::List(items) => items.len(),
            Value::Map(entries) => entries.len(),
            Value::Nil => 0,
            other => return Err(format!("{} has no length", other.kind())),
        };
        Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
    }),
    ("index", |arguments| {
        let (first, keys) = arguments.split_first().ok_or("a list or map is missing")?;
        keys.iter().try_fold(first.clone(), |value, key| at(&value, key))
    }),
    ("slice", slice),
    ("list", |arguments| {
        arguments.iter().try_for_each(check_flat)?;
        Ok(Value::List(arguments.into()))
    }),
    ("dict", |arguments| {
        let mut entries = BTreeMap::new();
        for pair in arguments.chunks(2) {
            let [key, value] = pair else { return Err("a value is missing".to_owned()) };
            check_flat(value)?;
            entries.insert(key.to_string(), value.clone());
        }
        Ok(Value::Map(entries.into()))
    }),
    ("get", |arguments| {
        let (map, key) = two(arguments)?;
        Ok(entries(map)?.get(text(key)?).cloned().unwrap_or_else(|| Value::from("")))
    }),
    ("hasKey", |arguments| {
        let (map, key) = two(arguments)?;
        Ok(Value::Bool(entries(map)?.contains_key(text(key)?)))
    }),
    ("keys", |arguments| {
        let keys = entries(one(arguments)?)?.keys().map(|key| Value::from(key.as_str()));
        Ok(Value::List(keys.collect()))
    }),
    ("values", |arguments| Ok(Value::List(entries(one(arguments)?)?.values().cloned().collect()))),
    ("first", |arguments| Ok(list(one(arguments)?)?.first().cloned().unwrap_or(Value::Nil))),
    ("last", |arguments| Ok(list(one(arguments)?)?.last().cloned().unwrap_or(Value::Nil))),
    ("has", |arguments| {
        let (item, items) = two(arguments)?;
        Ok(Value::Bool(list(items)?.contains(item)))
    }),
    ("uniq", |arguments| {
        let mut seen = std::collections::BTreeSet::new();
        let items = list(one(arguments)?)?.iter();
        Ok(Value::List(items.filter(|item| seen.insert(item.to_string())).cloned().collect()))
    }),
    ("sortAlpha", |arguments| {
        let mut items: Vec<String> =
            list(one(arguments)?)?.iter().map(ToString::to_string).collect();
        items.sort();
        Ok(Value::List(items.into_iter().map(Value::from).collect()))
    }),
    ("join", |arguments| {
        let (between, items) = two(arguments)?;
        let items: Vec<String> = list(items)?.iter().map(ToString::to_string).collect();
        joined(items.iter().map(String::as_str), text(between)?)
    }),
    ("splitList", |arguments| {
        let (between, whole) = two(arguments)?;
        let (between, whole) = (text(between)?, text(whole)?);
        if between.is_empty() {
            return Ok(Value::List(whole.chars().map(|it| Value::from(it.to_string())).collect()));
        }
        Ok(Value::List(whole.split(between).map(Value::from).collect()))
    }),
];

fn entries(value: &Value) -> Result<&BTreeMap<String, Value>, String> {
    match value {
        Value::Map(entries) | Value::Record(entries) => Ok(entries),
        other => Err(format!("it takes a map, not {}", other.kind())),
    }
}

fn check_flat(value: &Value) -> Result<(), String> {
    match value {
        Value::List(_) | Value::Map(_) | Value::Record(_) => {
            Err(format!("{} inside of it is not supported", value.kind()))
        }
        _ => Ok(()),
    }
}

fn at(value: &Value, key: &Value) -> Result<Value, String> {
    match value {
        Value::List(items) => {
            items.get(count(key)?).cloned().ok_or_else(|| "there are not so many".to_owned())
        }
        Value::Text(text) => {
            let byte = text.as_bytes().get(count(key)?).copied();
            byte.map(|byte| Value::Int(byte.into())).ok_or_else(|| "it is not so long".to_owned())
        }
        Value::Map(entries) | Value::Record(entries) => {
            Ok(entries.get(text(key)?).cloned().unwrap_or(Value::Nil))
        }
        other => Err(format!("it takes a list or map, not {}", other.kind())),
    }
}

fn slice(arguments: &[Value]) -> Result<Value, String> {
    let (value, from, to) = match arguments {
        [value, from] => (value, count(from)?, None),
        _ => {
            let (value, from, to) = three(arguments)?;
            (value, count(from)?, Some(count(to)?))
        }
    };
    let outside = || "the bounds are outside".to_owned();
    match value {
        Value::Text(text) => {
            text.get(from..to.unwrap_or(text.len())).map(Value::from).ok_or_else(outside)
        }
        Value::List(items) => {
            let part = items.get(from..to.unwrap_or(items.len())).ok_or_else(outside)?;
            Ok(Value::List(part.into()))
        }
        other => Err(format!("it takes text or a list, not {}", other.kind())),
    }
}
