//! Unquoted YAML as kubectl reads it, seen through a schema that takes one type.

mod support;

use kerf_lint::{Catalogue, Input, lint};
use serde_json::json;
use support::catalogue_of;

fn reads_as(catalogue: &Catalogue, written: &str) -> bool {
    let text = format!(
        "apiVersion: kerf.test/v1\nkind: Thing\nmetadata: {{name: a}}\nspec:\n  v: {written}\n"
    );
    lint(&[Input::new("-", text)], catalogue).findings.is_empty()
}

fn of_type(type_name: &str) -> Catalogue {
    let required =
        json!({"type": "object", "required": ["v"], "properties": {"v": {"type": type_name}}});
    catalogue_of(&required)
}

#[test]
fn words_and_numbers_have_the_types_kubectl_gives_them() {
    let rows = [
        ("boolean", "true True TRUE yes Yes YES y Y on On ON false no n N off Off"),
        ("integer", "0 -1 +1 0777 0o17 0x1F 0b101 1_000 1.0 1e3 08 9223372036854775807 !!int 5"),
        ("number", "1 0.5 .5 -1.5e-3 1. 5e-1"),
        (
            "string",
            "tRUE yES 1.2.3 2026-01-31 2026-01-31T00:00:00Z 1h 0x 1__a '1' \"true\" !!str 5 1:30 nO \
             0b2 abc << e1",
        ),
    ];
    for (type_name, words) in rows {
        let catalogue = of_type(type_name);
        let words = words.replace("!!int 5", "!!int_5").replace("!!str 5", "!!str_5");
        for word in words.split(' ') {
            let word = word.replace("!!int_5", "!!int 5").replace("!!str_5", "!!str 5");
            assert!(reads_as(&catalogue, &word), "{word} is not read as {type_name}");
        }
    }
}

#[test]
fn nothing_reads_as_null_and_infinity_cannot_be_carried() {
    let catalogue = of_type("string");
    for word in ["", "~", "null", "Null", "NULL", ".nan", ".inf", "-.Inf", "!!int abc"] {
        assert!(!reads_as(&catalogue, word), "{word:?} is read as a string");
    }
}

#[test]
fn a_whole_number_beyond_64_bits_is_no_integer() {
    assert!(!reads_as(&of_type("integer"), "9223372036854775808"));
    assert!(reads_as(&of_type("number"), "9223372036854775808"));
}

#[test]
fn merge_keys_and_aliases_are_filled_in() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "object", "properties": {"x": {"type": "integer"}, "z": {"type": "integer"}}},
        "b": {"type": "object", "properties": {"x": {"type": "string"}, "z": {"type": "integer"}}},
        "c": {"type": "object", "properties": {"x": {"type": "integer"}, "z": {"type": "integer"}}},
    }});
    let text = "apiVersion: kerf.test/v1\nkind: Thing\nmetadata: {name: a}\nspec:\n  \
                a: &a {x: 1, z: 2}\n  b: {<<: *a, x: text}\n  c: *a\n";
    assert_eq!(lint(&[Input::new("-", text)], &catalogue_of(&schema)).findings, []);
}

#[test]
fn a_key_that_reads_as_true_is_named_as_it_was_written() {
    let schema = json!({"type": "object", "properties": {"y": {"type": "integer"}}});
    let text = "apiVersion: kerf.test/v1\nkind: Thing\nmetadata: {name: a}\nspec:\n  y: 1\n";
    let findings = lint(&[Input::new("-", text)], &catalogue_of(&schema)).findings;
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].message, "y unquoted is read as true; unknown field \"spec.true\"");
    assert_eq!(findings[0].instead.as_deref(), Some("\"y\""));
}
