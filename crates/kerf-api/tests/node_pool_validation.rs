//! The controller refuses the pools the reference refuses, in its own words.

use kerf_api::node_pool::{NodePoolSpec, Template};
use kerf_api::validation::{label_rules, validate_node_pool, validate_template};
use kerf_model::labels::{LabelRules, kwok};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Recording {
    rows: Vec<Row>,
    kwok: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    template: Value,
    errors: Vec<String>,
}

fn recording() -> Recording {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    let path = format!("{root}/../../golden/recorded/validation.json");
    let text = std::fs::read_to_string(path).expect("the recording is in the tree");
    serde_json::from_str(&text).expect("the recording is JSON")
}

/// The recording leaves out fields that do not matter for validation.
fn template(mut value: Value) -> Template {
    let spec = value.as_object_mut().expect("an object").entry("spec").or_insert(json!({}));
    let spec = spec.as_object_mut().expect("an object");
    spec.entry("nodeClassRef").or_insert(json!({"group": "g", "kind": "K", "name": "n"}));
    spec.entry("requirements").or_insert(json!([]));
    for name in ["taints", "startupTaints"] {
        for taint in spec.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            let taint = taint.as_object_mut().expect("an object");
            taint.entry("effect").or_insert(json!(""));
            taint.entry("key").or_insert(json!(""));
        }
    }
    for entry in spec["requirements"].as_array_mut().into_iter().flatten() {
        let entry = entry.as_object_mut().expect("an object");
        entry.entry("key").or_insert(json!(""));
        entry.entry("operator").or_insert(json!(""));
    }
    serde_json::from_value(value).expect("a template")
}

fn compare(rows: Vec<Row>, rules: &LabelRules) {
    let (mut valid, mut invalid) = (0, 0);
    for row in rows {
        let problems = validate_template(&template(row.template.clone()), rules);
        assert_eq!(
            problems.is_empty(),
            row.errors.is_empty(),
            "{}\nthe reference says {:?}\nKerf says {problems:?}",
            row.template,
            row.errors
        );
        if problems.is_empty() { valid += 1 } else { invalid += 1 }
    }
    assert!(valid > 5 && invalid > 5, "{valid} valid, {invalid} invalid");
}

#[test]
fn verdicts_agree_with_the_reference_on_core_labels() {
    compare(recording().rows, &LabelRules::core());
}

#[test]
fn verdicts_agree_with_the_reference_on_kwok_labels() {
    compare(recording().kwok, &LabelRules::core().with(&kwok::provider_labels()));
}

#[test]
fn each_problem_names_its_field() {
    let pool: NodePoolSpec = serde_json::from_value(json!({
        "disruption": {"budgets": [{"nodes": "1"}, {"nodes": "1", "schedule": "a b c d e", "duration": "1h"}]},
        "template": {
            "metadata": {"labels": {"team": "bad value", "karpenter.sh/custom": "x"}},
            "spec": {
                "nodeClassRef": {"group": "g", "kind": "K", "name": "n"},
                "taints": [{"key": "a", "effect": "NoSchedule"}],
                "startupTaints": [{"key": "a", "effect": "NoSchedule"}],
                "requirements": [
                    {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
                    {"key": "kubernetes.io/hostname", "operator": "Exists"},
                    {"key": "team", "operator": "in", "values": ["a"]},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["cheap"]}
                ]
            }
        }
    }))
    .expect("a pool");
    let problems = validate_node_pool(&pool, &label_rules());
    let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "spec.template.metadata.labels.karpenter.sh/custom",
            "spec.template.metadata.labels.team",
            "spec.template.spec.startupTaints[0]",
            "spec.template.spec.requirements[1]",
            "spec.template.spec.requirements[2].operator",
            "spec.template.spec.requirements[3]",
            "spec.disruption.budgets[1]",
        ]
    );
}
