//! Whatever goes wrong in a simulation, each engine's journal replays to the same actions.

use std::path::PathBuf;
use std::sync::Arc;

use kerf_journal::Replay;
use kerf_sim::{Scenario, Simulation};

/// Seeds tried unless `KERF_REPLAY_SEEDS` says otherwise; each takes about ten seconds.
const SEEDS_DEFAULT: u64 = 2;

fn scenario(name: &str) -> Arc<Scenario> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    let text = std::fs::read_to_string(folder.join(name)).expect("the scenario is there");
    Arc::new(Scenario::parse(&text).expect("the scenario can be read"))
}

/// Plays a scenario and replays the journal of every engine in it.
fn assert_replays(scenario: &Arc<Scenario>, seed: u64) {
    let mut simulation = Simulation::journaled(scenario.clone(), seed, scenario.length)
        .expect("the cloud sells something");
    simulation.run();
    let (mut actions, mut states) = (0, 0);
    for (number, journal) in simulation.journals().into_iter().enumerate() {
        let report = Replay::of(journal).expect("what was written can be read");
        assert_eq!(report.difference, None, "seed {seed}, engine {number}");
        assert_eq!(report.skipped, 0);
        actions += report.actions;
        states += report.states;
    }
    assert!(actions > 100, "only {actions} actions were compared");
    assert!(states > 0, "no replay went on from a state");
}

#[test]
fn every_engine_of_a_chaotic_run_replays_exactly() {
    let wanted = std::env::var("KERF_REPLAY_SEEDS").ok().and_then(|text| text.parse().ok());
    let scenario = scenario("chaos.yaml");
    for seed in 1..=wanted.unwrap_or(SEEDS_DEFAULT) {
        assert_replays(&scenario, seed);
    }
}
