//! Whatever goes wrong in a simulation, each engine's journal replays to the same actions.

use std::path::PathBuf;
use std::sync::Arc;

use kerf_engine::time::Span;
use kerf_journal::{Decoder, JournalLine, Replay};
use kerf_sim::{Scenario, Simulation};
use serde::Serialize;
use serde::de::DeserializeOwned;

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

/// Events and states as simulated engines meet them, read back and written again.
#[test]
fn every_event_and_state_reads_back_as_the_same_value() {
    let scenario = scenario("interruptions.yaml");
    let simulation = Simulation::journaled(scenario, 1, Span::from_minutes(20));
    let mut simulation = simulation.expect("the cloud sells something");
    simulation.run();
    let (mut events, mut states) = (0, 0);
    for journal in simulation.journals() {
        let mut decoder = Decoder::default();
        for line in journal.lines() {
            match decoder.read(line).expect("what was written can be read") {
                JournalLine::Event { event, .. } => {
                    assert_goes_round(&*event);
                    events += 1;
                }
                JournalLine::State(engine) => {
                    assert_goes_round(&*engine);
                    states += 1;
                }
                _ => {}
            }
        }
    }
    assert!(events > 100 && states > 0, "{events} events and {states} states were read");
}

fn assert_goes_round<T: Serialize + DeserializeOwned>(value: &T) {
    let written = serde_json::to_string(value).expect("it has a JSON form");
    let read: T = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(serde_json::to_string(&read).expect("it has a JSON form"), written);
}
