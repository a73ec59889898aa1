//! Reads the tables recorded from the reference implementation.

use serde_json::Value;

/// The rows of one table in `golden/recorded/<file>.json`. A table without rows is a mistake.
pub(crate) fn rows(file: &str, table: &str) -> Vec<Value> {
    let crate_folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    let path = format!("{crate_folder}/../../golden/recorded/{file}.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut document: Value = serde_json::from_str(&text).expect("a recording is JSON");
    let Value::Array(rows) = document[table].take() else { panic!("{path} has no table {table}") };
    assert!(!rows.is_empty(), "{path}: table {table} is empty");
    rows
}
