//! Every row of the recordings under `golden/recorded`; how they are made is said there.

mod host_ports;
mod labels;
mod requirement_sets;
mod requirements;
mod selectors;
mod taints;

use std::collections::BTreeMap;

use kerf_model::requirement::RequirementEntry;
use serde_json::Value;

/// Reads one recording.
fn recording(name: &str) -> Value {
    let crate_folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let path = format!("{crate_folder}/../../golden/recorded/{name}.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rows under `member`, of which there must be some.
fn rows<'a>(recording: &'a Value, member: &str) -> &'a [Value] {
    let rows = recording[member].as_array().expect("an array of rows");
    assert!(!rows.is_empty(), "{member} has rows");
    rows
}

/// A member that is text; absent reads as empty.
fn text<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().unwrap_or("")
}

/// A member that is a list of texts; absent reads as empty.
fn texts<'a>(row: &'a Value, member: &str) -> Vec<&'a str> {
    let list = row[member].as_array().into_iter().flatten();
    list.map(|each| each.as_str().expect("text")).collect()
}

/// A member that maps texts to texts.
fn map(row: &Value) -> BTreeMap<String, String> {
    let pairs = row.as_object().into_iter().flatten();
    let owned = |value: &Value| value.as_str().expect("text").to_owned();
    pairs.map(|(key, value)| (key.clone(), owned(value))).collect()
}

/// A bit string.
fn bits(bits: &Value) -> Vec<bool> {
    bits.as_str().expect("a bit string").bytes().map(|bit| bit == b'1').collect()
}

/// A requirement in API form.
fn entry(row: &Value, key: &str) -> RequirementEntry {
    let operator = text(row, "operator").parse().expect("a known operator");
    let min_values = row["minValues"].as_u64().map(|count| count as u32);
    RequirementEntry { min_values, ..RequirementEntry::new(key, operator, texts(row, "values")) }
}
