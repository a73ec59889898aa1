//! Each schema keyword, as an API server applies it.

mod support;

use serde_json::{Value, json};
use support::{in_short, judged};

/// A schema for `spec.v`, a value for it, and the problems as `field: rule`.
type Row = (Value, Value, &'static [&'static str]);

fn check(rows: Vec<Row>) {
    for (schema, value, expected) in rows {
        let spec_schema = json!({"type": "object", "properties": {"v": schema}});
        let verdict = judged(&spec_schema, &json!({"v": value}));
        assert_eq!(in_short(&verdict), expected, "{schema} on {value}");
    }
}

#[test]
fn types_are_checked_as_the_server_checks_them() {
    check(vec![
        (json!({"type": "string"}), json!("x"), &[]),
        (json!({"type": "string"}), json!(1), &["spec.v: type string"]),
        (json!({"type": "integer"}), json!(1.0), &[]),
        (json!({"type": "integer"}), json!(1.5), &["spec.v: format int64", "spec.v: type integer"]),
        (json!({"type": "number"}), json!(1), &[]),
        (json!({"type": "boolean"}), json!("true"), &["spec.v: type boolean"]),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!(["a", 1]),
            &["spec.v[1]: type string"],
        ),
        (json!({"x-kubernetes-int-or-string": true}), json!(1), &[]),
        (json!({"x-kubernetes-int-or-string": true}), json!("1"), &[]),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!(true),
            &["spec.v: type integer or string"],
        ),
    ]);
}

#[test]
fn a_null_field_counts_as_absent_and_a_null_in_a_list_does_not() {
    check(vec![
        (json!({"type": "string"}), json!(null), &[]),
        (json!({"type": "string", "nullable": true}), json!(null), &[]),
        (
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!(null),
            &["spec.v: enum"],
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!([null]),
            &["spec.v[0]: type string"],
        ),
        (
            json!({"type": "array", "items": {"type": "string", "nullable": true}}),
            json!([null]),
            &[],
        ),
        (json!({"type": "array", "items": {"type": "string", "default": "x"}}), json!([null]), &[]),
    ]);
}

#[test]
fn bounds_hold_at_their_edges() {
    let text = |key: &str, bound: u64| json!({"type": "string", key: bound});
    check(vec![
        (text("maxLength", 2), json!("äö"), &[]),
        (text("maxLength", 2), json!("äöü"), &["spec.v: maxLength 2"]),
        (text("minLength", 1), json!(""), &["spec.v: minLength 1"]),
        (json!({"type": "integer", "minimum": 1}), json!(1), &[]),
        (json!({"type": "integer", "minimum": 1}), json!(0), &["spec.v: minimum 1"]),
        (
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            json!(1),
            &["spec.v: minimum 1"],
        ),
        (json!({"type": "number", "maximum": 1.5}), json!(1.6), &["spec.v: maximum 1.5"]),
        (
            json!({"type": "integer", "maximum": 5, "exclusiveMaximum": true}),
            json!(5),
            &["spec.v: maximum 5"],
        ),
        (json!({"type": "integer", "multipleOf": 5}), json!(10), &[]),
        (json!({"type": "integer", "multipleOf": 5}), json!(12), &["spec.v: multipleOf 5"]),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(2_147_483_648_u64),
            &["spec.v: format int32"],
        ),
        (json!({"type": "integer", "format": "int32"}), json!(-2_147_483_648_i64), &[]),
        (
            json!({"type": "array", "maxItems": 1, "items": {"type": "string"}}),
            json!(["a", "b"]),
            &["spec.v: maxItems 1"],
        ),
        (
            json!({"type": "array", "minItems": 1, "items": {"type": "string"}}),
            json!([]),
            &["spec.v: minItems 1"],
        ),
        (
            json!({"type": "object", "maxProperties": 0, "additionalProperties": {"type": "string"}}),
            json!({"a": "b"}),
            &["spec.v: maxProperties 0"],
        ),
        (
            json!({"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}}),
            json!({}),
            &["spec.v: minProperties 1"],
        ),
    ]);
}

#[test]
fn a_pattern_is_searched_for_and_its_classes_are_ascii() {
    let pattern = |text: &str| json!({"type": "string", "pattern": text});
    check(vec![
        (pattern("b"), json!("abc"), &[]),
        (pattern("^b"), json!("abc"), &["spec.v: pattern ^b"]),
        (pattern("^\\d$"), json!("5"), &[]),
        (pattern("^\\d$"), json!("٥"), &["spec.v: pattern ^\\d$"]),
        (pattern("^\\w+$"), json!("ä"), &["spec.v: pattern ^\\w+$"]),
        (pattern("^[\\w.-]+$"), json!("a.b-c"), &[]),
        (pattern("^[[]a&&b]$"), json!("a&&b]"), &["spec.v: pattern ^[[]a&&b]$"]),
        (pattern("^[a-z&&]+$"), json!("a&"), &[]),
        (pattern("^[+--]+$"), json!(",-+"), &[]),
        (pattern("^[--/]+$"), json!("-./"), &[]),
        (pattern("^\\S+$"), json!("a b"), &["spec.v: pattern ^\\S+$"]),
        (pattern("("), json!("x"), &["spec.v: pattern ("]),
    ]);
}

#[test]
fn formats_the_server_enforces_are_enforced_and_others_are_not() {
    let format = |name: &str| json!({"type": "string", "format": name});
    check(vec![
        (format("date-time"), json!("2026-02-28T23:59:59.5Z"), &[]),
        (format("date-time"), json!("2026-02-30T23:59:59Z"), &["spec.v: format datetime"]),
        (format("date-time"), json!("2026-02-28"), &["spec.v: format datetime"]),
        (format("date"), json!("2024-02-29"), &[]),
        (format("date"), json!("2023-02-29"), &["spec.v: format date"]),
        (format("duration"), json!("1h30m"), &[]),
        (format("duration"), json!("3 days"), &[]),
        (format("duration"), json!("soon"), &["spec.v: format duration"]),
        (format("ipv4"), json!("10.0.0.1"), &[]),
        (format("ipv4"), json!("10.0.0.256"), &["spec.v: format ipv4"]),
        (format("ipv6"), json!("::1"), &[]),
        (format("cidr"), json!("10.0.0.0/33"), &["spec.v: format cidr"]),
        (format("byte"), json!("aGk="), &[]),
        (format("byte"), json!("aGk"), &["spec.v: format byte"]),
        (format("uuid"), json!("x"), &["spec.v: format uuid"]),
        (format("uri"), json!("https://x/y"), &[]),
        (format("uri"), json!("x y"), &["spec.v: format uri"]),
        (format("no-such-format"), json!("anything"), &[]),
    ]);
}

#[test]
fn combinations_of_schemas_are_checked() {
    let any = json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true});
    let one = json!({"type": "string", "oneOf": [{"pattern": "a"}, {"pattern": "b"}]});
    let all = json!({"type": "string", "allOf": [{"minLength": 2}, {"pattern": "^x"}]});
    let not = json!({"type": "string", "not": {"enum": ["no"]}});
    check(vec![
        (any.clone(), json!("x"), &[]),
        (any, json!(true), &["spec.v: type integer or string"]),
        (one.clone(), json!("a"), &[]),
        (one.clone(), json!("ab"), &["spec.v: oneOf"]),
        (one, json!("c"), &["spec.v: oneOf", "spec.v: pattern a"]),
        (all, json!("y"), &["spec.v: minLength 2", "spec.v: pattern ^x"]),
        (not.clone(), json!("yes"), &[]),
        (not, json!("no"), &["spec.v: not"]),
    ]);
}

#[test]
fn sets_and_maps_refuse_repeated_items() {
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    let map = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
        "items": {"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "string", "default": "x"}, "c": {"type": "string"},
        }},
    });
    check(vec![
        (set.clone(), json!(["a", "b"]), &[]),
        (set, json!(["a", "b", "a", "a"]), &["spec.v[2]: x-kubernetes-list-type set"]),
        (map.clone(), json!([{"a": "1"}, {"a": "1", "b": "y"}]), &[]),
        (
            map,
            json!([{"a": "1"}, {"a": "1", "b": "x", "c": "z"}]),
            &["spec.v[1]: x-kubernetes-list-type map"],
        ),
    ]);
}

#[test]
fn unknown_fields_are_refused_unless_the_schema_keeps_them() {
    let named = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let kept = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}});
    let free = json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}}});
    check(vec![
        (named.clone(), json!({"a": "x"}), &[]),
        (named, json!({"b": "x"}), &["spec.v.b: unknown field"]),
        (kept.clone(), json!({"b": {"c": 1}}), &[]),
        (kept, json!({"a": 1}), &["spec.v.a: type string"]),
        (free.clone(), json!({"any": {"a": "x"}}), &[]),
        (free, json!({"any": {"b": "x"}}), &["spec.v.any.b: unknown field"]),
    ]);
}

#[test]
fn defaults_are_filled_in_before_anything_is_required() {
    let schema = json!({
        "type": "object", "required": ["a"],
        "properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.a == 'x'"}],
    });
    assert_eq!(in_short(&judged(&schema, &json!({}))), Vec::<String>::new());
    assert_eq!(in_short(&judged(&schema, &json!({"a": null}))), Vec::<String>::new());
    assert_eq!(in_short(&judged(&schema, &json!({"a": "y"}))), ["spec: cel self.a == 'x'"]);
}

#[test]
fn a_problem_of_type_size_or_presence_keeps_rules_from_running() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 1, "pattern": "^a$"}},
        "x-kubernetes-validations": [{"rule": "false", "message": "never"}],
    });
    let blocked = judged(&schema, &json!({"a": "aa"}));
    assert!(blocked.rules_unchecked);
    assert_eq!(in_short(&blocked), ["spec.a: maxLength 1"]);
    let checked = judged(&schema, &json!({"a": "b"}));
    assert!(!checked.rules_unchecked);
    assert_eq!(in_short(&checked), ["spec.a: pattern ^a$", "spec: cel false"]);
}

#[test]
fn advice_on_a_number_that_should_be_text_fits_the_pattern() {
    let advice = |pattern: Option<&str>| {
        let mut schema = json!({"type": "string"});
        if let Some(pattern) = pattern {
            schema["pattern"] = json!(pattern);
        }
        let spec_schema = json!({"type": "object", "properties": {"v": schema}});
        let verdict = judged(&spec_schema, &json!({"v": 30}));
        verdict.problems[0].instead.clone()
    };
    assert_eq!(advice(None).as_deref(), Some("\"30\""));
    assert_eq!(advice(Some("^[0-9]+%?$")).as_deref(), Some("\"30\""));
    assert_eq!(advice(Some("^([0-9]+(s|m|h))+$")).as_deref(), Some("30s"));
    assert_eq!(advice(Some("^[a-z]+$")), None);
}
