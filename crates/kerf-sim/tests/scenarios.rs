//! The scenarios in `examples/scenarios` play without breaking a rule.

use std::path::PathBuf;
use std::sync::Arc;

use kerf_sim::{Report, Scenario, Simulation};

fn scenario(name: &str) -> Arc<Scenario> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/scenarios")
        .join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(path).expect("the scenario is there");
    Arc::new(Scenario::parse(&text).expect("the scenario can be read"))
}

fn play(name: &str, seed: u64) -> Report {
    let mut simulation = Simulation::new(scenario(name), seed).expect("the cloud sells something");
    simulation.run();
    Report::of(&simulation)
}

#[test]
fn inflate_goes_up_and_down_as_told() {
    let report = play("inflate", 1);
    assert_eq!(report.violations, [], "{report:#?}");
    assert!(report.launches > 0);
}
