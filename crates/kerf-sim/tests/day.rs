//! A day of `examples/scenarios/day.yaml`, with a twentieth of its pods unless told otherwise: no rule
//! is broken, and the cluster is as large as its bounds say, morning and night. The same for the week of
//! `week.yaml`, with a hundredth.
//!
//! In full: `KERF_DAY_SHARE=1 cargo test --release -p kerf-sim --test day`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::Arc;

use kerf_sim::{Report, Scenario, Simulation};
use serde_json::{Value, json};

/// What the pods are divided by in CI: a day in full takes minutes without optimisation.
const SHARE_DEFAULT: u64 = 20;
/// The same for a week.
const WEEK_SHARE_DEFAULT: u64 = 100;

#[test]
fn a_day_breaks_no_rule_and_keeps_its_bounds() {
    play("day", SHARE_DEFAULT);
}

#[test]
fn a_week_breaks_no_rule_and_keeps_its_bounds() {
    play("week", WEEK_SHARE_DEFAULT);
}

fn play(name: &str, share: u64) {
    let asked = std::env::var("KERF_DAY_SHARE").ok().and_then(|text| text.parse().ok());
    let scenario = Scenario::parse(&divided(name, asked.unwrap_or(share))).unwrap();
    assert!(!scenario.expectations.is_empty(), "the file says what it expects");
    let mut simulation = Simulation::new(Arc::new(scenario), 1).unwrap();
    simulation.run();
    let report = Report::of(&simulation);
    assert!(report.violations.is_empty(), "{:#?}", report.violations);
}

/// The scenario with all counts divided.
fn divided(name: &str, share: u64) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    let path = folder.join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut scenario: Value = serde_saphyr::from_str(&text).unwrap();
    for (list, fields) in [
        ("workloads", &["replicas", "completions"][..]),
        ("timeline", &["to"]),
        ("expect", &["nodes", "running"]),
    ] {
        for entry in scenario[list].as_array_mut().unwrap() {
            let counts = fields.iter().filter_map(|field| entry.get(*field).map(|_| *field));
            for field in counts.collect::<Vec<&str>>() {
                divide(&mut entry[field], share);
            }
        }
    }
    scenario.to_string()
}

/// Divides a number, the ends of a range such as `400..900`, or each value of a map.
fn divide(value: &mut Value, share: u64) {
    match value {
        Value::Number(number) => *value = json!(number.as_u64().unwrap() / share),
        Value::String(text) => {
            let part =
                |part: &str| part.parse().map_or(String::new(), |n: u64| (n / share).to_string());
            let parts: Vec<String> = text.split("..").map(part).collect();
            *value = json!(parts.join(".."));
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| divide(field, share)),
        _ => panic!("neither a number nor a range: {value}"),
    }
}
