//! `kerf demo` and `kerf simulate` as a user runs them.

use std::path::PathBuf;
use std::process::{Command, Output};

fn kerf(args: &[&str]) -> Output {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.args(args).current_dir(root).output().expect("kerf runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("kerf speaks UTF-8")
}

#[test]
fn the_demo_prints_plain_lines_where_there_is_no_terminal() {
    let output = kerf(&["demo"]);
    let output_text = text(&output.stdout);
    assert!(output.status.success(), "{output_text}");
    for line in [
        "web is scaled to 90\n",
        "SpotInterrupted",
        "zone b is left",
        "SUMMARY",
        "greedy",
        "0 left",
    ] {
        assert!(output_text.contains(line), "{line} in\n{output_text}");
    }
    assert!(!output_text.contains('\u{1b}'), "no escape codes in\n{output_text}");
}

#[test]
fn a_scenario_whose_rules_hold_ends_well() {
    let output = kerf(&["simulate", "examples/scenarios/inflate.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("every rule held"));
}

#[test]
fn a_report_for_programs_is_json() {
    let output = kerf(&["simulate", "examples/scenarios/inflate.yaml", "-o", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!((&report["version"], &report["scenario"]), (&1.into(), &"inflate".into()));
    let run = &report["runs"][0];
    assert!(run["spentDollars"].as_f64().is_some_and(|spent| spent > 0.0), "{run}");
    assert_eq!(run["nodes"], 0);
    assert!(run["waitSecondsMax"].as_u64() >= run["waitSecondsMean"].as_u64(), "{run}");
    let again = kerf(&["simulate", "examples/scenarios/inflate.yaml", "-o", "json"]);
    assert_eq!(text(&again.stdout), text(&output.stdout), "equal runs give equal bytes");
    assert_eq!(report["runs"][0]["seed"], 1);
    assert_eq!(report["runs"][0]["violations"], serde_json::json!([]));
}

/// Plays a scenario that is not in a file yet.
fn simulate(name: &str, scenario: &str) -> Output {
    let file = format!("kerf-simulate-{name}-{}.yaml", std::process::id());
    let path = std::env::temp_dir().join(file);
    std::fs::write(&path, scenario).expect("the file can be written");
    let output = kerf(&["simulate", path.to_str().expect("a plain name")]);
    std::fs::remove_file(&path).expect("the file is there");
    output
}

#[test]
fn the_scenario_of_the_documentation_can_be_played_as_it_stands() {
    let page = include_str!("../../../docs/simulate.md");
    let (_, rest) = page.split_once("```yaml\n").expect("the page has a scenario");
    let (scenario, _) = rest.split_once("```").expect("it ends");
    let output = simulate("documented", scenario);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn steps_past_the_end_of_a_scenario_are_named() {
    let scenario = "name: x\nends: 9m\npools: []\ntimeline: [{at: 5m, note: a}, {at: 1h, note: b}]\n\
                    expect: [{at: 2h, nodes: '0'}]\n";
    let output = simulate("past-end", scenario);
    assert_eq!(output.status.code(), Some(0));
    let warning = text(&output.stderr);
    let expected = "the scenario ends at 0:09:00, and 2 of its steps and expectations are past that, \
                    the first at 1:00:00";
    assert!(warning.contains(expected), "{warning}");
}

#[test]
fn a_disappointed_expectation_is_told_by_the_exit_code() {
    let scenario = "name: x\nends: 1m\npools: []\nexpect: [{at: 30s, nodes: '7'}]\n";
    let output = simulate("disappointed", scenario);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("expected 7 nodes, found 0"));
}

#[test]
fn all_mistakes_of_a_scenario_are_told_at_once() {
    let scenario = "name: x\nends: soon\npools: [{name: a, requirements: [nonsense]}]\n\
                    workloads: []\nexpect: [{at: 1m, nodes: many}]\n";
    let output = simulate("mistaken", scenario);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for field in ["ends: ", "pools[0].requirements: ", "expect[0]: "] {
        assert!(said.contains(field), "{field} in\n{said}");
    }
}

#[test]
fn the_outcome_comes_first_and_what_happened_inside_on_demand() {
    let output = kerf(&["simulate", "examples/scenarios/inflate.yaml"]);
    let plain = text(&output.stdout);
    for row in ["nodes ", "cost ", "waiting ", "evictions "] {
        assert!(plain.contains(&format!("\n  {row}")), "{row} in\n{plain}");
    }
    assert!(!plain.contains("decisions"), "{plain}");
    let output = kerf(&["simulate", "examples/scenarios/inflate.yaml", "-v"]);
    let verbose = text(&output.stdout);
    assert!(verbose.starts_with(&plain) && verbose.contains("\n  decisions"), "{verbose}");
}

#[test]
fn a_scenario_that_is_missing_is_named() {
    let output = kerf(&["simulate", "no/such/file.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no/such/file.yaml"));
}
