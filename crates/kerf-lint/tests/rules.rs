//! CEL rules as an API server evaluates them on a new object.

mod support;

use serde_json::{Value, json};
use support::judged;

fn schema_with(rule: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "list": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "namespace": {"type": "string"},
            "a-b": {"type": "string"},
            "a_b": {"type": "string"},
            "port": {"x-kubernetes-int-or-string": true},
            "since": {"type": "string", "format": "date-time"},
            "wait": {"type": "string", "format": "duration"},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
        "x-kubernetes-validations": [rule],
    })
}

/// The messages of the rules broken by a spec.
fn messages(rule: &Value, spec: &Value) -> Vec<String> {
    let verdict = judged(&schema_with(rule), spec);
    assert_eq!(verdict.rules_unevaluated, Vec::<String>::new(), "{rule}");
    verdict.problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn rules_hold_on_these_specs() {
    let rows = [
        ("self.text.startsWith('a')", json!({"text": "abc"})),
        ("!has(self.text) || self.count > 1", json!({})),
        ("self.list.all(x, x.size() > 0)", json!({"list": ["a"]})),
        ("self.list.exists_one(x, x == 'a')", json!({"list": ["a", "b"]})),
        ("'a.b/c' in self.map && self.map['a.b/c'] == 'x'", json!({"map": {"a.b/c": "x"}})),
        ("self.map.all(k, self.map[k] != '')", json!({"map": {"k": "v"}})),
        ("self.__namespace__ == 'n'", json!({"namespace": "n"})),
        ("self.a__dash__b == 'x' && self.a_b == 'y'", json!({"a-b": "x", "a_b": "y"})),
        ("self.share == 1.0", json!({"share": 1})),
        ("type(self.port) == int ? self.port > 0 : self.port == 'http'", json!({"port": "http"})),
        ("type(self.port) == int ? self.port > 0 : self.port == 'http'", json!({"port": 80})),
        (
            "self.since < timestamp('2030-01-01T00:00:00Z')",
            json!({"since": "2026-01-01T00:00:00Z"}),
        ),
        ("self.wait <= duration('1h')", json!({"wait": "30m"})),
        ("self.text.matches('^[a-z]{2}$')", json!({"text": "ab"})),
        ("self.text.matches('^\\\\d$') == false", json!({"text": "٥"})),
        ("quantity(self.text).isGreaterThan(quantity('1Gi'))", json!({"text": "2Gi"})),
        ("self.text.split('/').size() == 2", json!({"text": "a/b"})),
        ("self.missing.field == 1 || true", json!({})),
        ("false && self.missing.field == 1 || true", json!({})),
        ("self.any.x.y == 3", json!({"any": {"x": {"y": 3}}})),
        ("self.text in ['a', 'b']", json!({"text": "b"})),
        ("self.list.map(x, x + '!') == ['a!']", json!({"list": ["a"]})),
        ("self.list.filter(x, x != 'a').size() == 0", json!({"list": ["a"]})),
    ];
    for (rule, spec) in rows {
        let entry = json!({"rule": rule, "message": "broken"});
        assert_eq!(messages(&entry, &spec), Vec::<String>::new(), "{rule} on {spec}");
    }
}

#[test]
fn a_rule_that_compares_with_the_stored_object_is_not_run_on_a_new_one() {
    let plain = json!({"rule": "self.text == oldSelf.text", "message": "immutable"});
    assert_eq!(messages(&plain, &json!({"text": "a"})), Vec::<String>::new());
    let optional = json!({
        "rule": "oldSelf.hasValue() || self.text == 'a'",
        "message": "must start as a",
        "optionalOldSelf": true,
    });
    assert_eq!(messages(&optional, &json!({"text": "a"})), Vec::<String>::new());
    assert_eq!(messages(&optional, &json!({"text": "b"})), ["must start as a"]);
}

#[test]
fn the_message_is_the_expression_then_the_text_then_the_rule() {
    let spec = json!({"text": "b"});
    let expression = json!({
        "rule": "self.text == 'a'", "message": "fixed", "messageExpression": "'not ' + self.text",
    });
    assert_eq!(messages(&expression, &spec), ["not b"]);
    let broken = json!({
        "rule": "self.text == 'a'", "message": "fixed", "messageExpression": "self.nothing",
    });
    assert_eq!(messages(&broken, &spec), ["fixed"]);
    let bare = json!({"rule": "self.text == 'a'"});
    assert_eq!(messages(&bare, &spec), ["failed rule: self.text == 'a'"]);
}

#[test]
fn the_field_path_of_a_rule_names_the_place() {
    let rule = json!({"rule": "self.text == 'a'", "message": "no", "fieldPath": ".text"});
    let verdict = judged(&schema_with(&rule), &json!({"text": "b"}));
    assert_eq!(verdict.problems[0].path.to_string(), "spec.text");
}

#[test]
fn a_rule_that_fails_to_evaluate_refuses_the_object() {
    let rule = json!({"rule": "self.list[3] == 'a'", "message": "fourth"});
    assert!(messages(&rule, &json!({"list": []}))[0].starts_with("fourth (the rule fails with"));
}

#[test]
fn a_rule_beyond_this_evaluator_is_named_and_not_held_against_the_object() {
    let rule = json!({"rule": "cel.bind(x, self.text, x == 'a')"});
    let verdict = judged(&schema_with(&rule), &json!({"text": "b"}));
    assert_eq!(verdict.problems, []);
    assert_eq!(verdict.rules_unevaluated, ["cel.bind(x, self.text, x == 'a')"]);
}

#[test]
fn a_rule_is_not_run_on_a_null() {
    let schema = json!({"type": "object", "properties": {"text": {
        "type": "string", "nullable": true, "x-kubernetes-validations": [{"rule": "false"}],
    }}});
    assert_eq!(judged(&schema, &json!({"text": null})).problems, []);
}
