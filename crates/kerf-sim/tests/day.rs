//! A day of `examples/scenarios/day.yaml`, with a twentieth of its pods unless told otherwise: no rule
//! is broken, and the cluster is as large as its bounds say, morning and night. The same for the week of
//! `week.yaml`, with a hundredth, and for `drift-4000.yaml`, with a fortieth.
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
/// The same for the replacement of four thousand nodes.
const DRIFT_SHARE_DEFAULT: u64 = 40;

/// How much more than the least that room for the pods costs a week may cost: nodes boot, drain and
/// come in few sizes, and the ends of working days are long. It was 0.16 with a hundredth.
const ABOVE_BOUND_MAX: f64 = 0.25;
/// What consolidation saves of a week's cost at least. Most nodes become empty by themselves in
/// this week; it was 0.04.
const SAVED_MIN: f64 = 0.02;
/// How many pods it evicts for each dollar it saves at most; 55 with a hundredth.
const EVICTIONS_PER_DOLLAR_MAX: f64 = 90.0;

#[test]
fn a_day_breaks_no_rule_and_keeps_its_bounds() {
    play("day", SHARE_DEFAULT);
}

/// As long with a hundred nodes as with four thousand: a tenth may be away at a time, and each needs
/// the time to boot, to drain and to end. In full: `KERF_DAY_SHARE=1 cargo test --release -p kerf-sim
/// --test day drifted`.
#[test]
fn all_drifted_nodes_of_a_pool_are_replaced_within_ten_minutes_however_many() {
    let report = play("drift-4000", DRIFT_SHARE_DEFAULT);
    assert_eq!(report.launches, 2 * report.nodes as u64, "each was replaced once");
}

/// In full: `KERF_DAY_SHARE=1 cargo test --release -p kerf-sim --test day week -- --nocapture`.
#[test]
fn a_week_breaks_no_rule_and_consolidation_saves_money_with_few_evictions() {
    let scenario = scenario("week", WEEK_SHARE_DEFAULT);
    let without = Arc::new(scenario.only_when_empty());
    let [with, without] = [Arc::new(scenario), without].map(|scenario| {
        let mut simulation = Simulation::new(scenario, 1).unwrap().with_hours();
        simulation.run();
        Report::of(&simulation)
    });
    assert!(with.violations.is_empty(), "{:#?}", with.violations);
    let dollars = |micros: u128| micros as f64 / 1e6;
    let bound: u128 = with.hours.iter().map(|hour| hour.bound_micros).sum();
    let (spent, bound) = (dollars(with.spent_micros), dollars(bound));
    let saved = dollars(without.spent_micros) - spent;
    let evictions = with.consolidation_evictions;
    let said =
        format!("{spent:.2} $ spent, at least {bound:.2}; {saved:.2} saved, {evictions} evictions");
    println!("{said}");
    assert_eq!(with.hours.len(), 7 * 24);
    assert!(spent >= bound, "a bound that is none: {said}");
    assert!(spent <= bound * (1.0 + ABOVE_BOUND_MAX), "dearer than it has to be: {said}");
    assert!(saved >= spent * SAVED_MIN, "consolidation is not worth it: {said}");
    assert!(evictions as f64 <= saved * EVICTIONS_PER_DOLLAR_MAX, "churn: {said}");
    assert_eq!(without.consolidation_evictions, 0);
}

fn play(name: &str, share: u64) -> Report {
    let scenario = scenario(name, share);
    assert!(!scenario.expectations.is_empty(), "the file says what it expects");
    let mut simulation = Simulation::new(Arc::new(scenario), 1).unwrap();
    simulation.run();
    let report = Report::of(&simulation);
    assert!(report.violations.is_empty(), "{:#?}", report.violations);
    report
}

fn scenario(name: &str, share: u64) -> Scenario {
    let asked = std::env::var("KERF_DAY_SHARE").ok().and_then(|text| text.parse().ok());
    Scenario::parse(&divided(name, asked.unwrap_or(share))).unwrap()
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
        ("expect", &["nodes", "claims", "running"]),
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
