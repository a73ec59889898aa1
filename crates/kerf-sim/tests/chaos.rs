//! Whatever goes wrong, the rules hold: many seeds with all faults on.
//!
//! Ten thousand of them: `KERF_SIM_SEEDS=10000 cargo test --release -p kerf-sim --test chaos no_rule`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use kerf_sim::{Report, Scenario, Simulation};

/// Seeds tried unless `KERF_SIM_SEEDS` says otherwise: what two cores play in some minutes.
const SEEDS_DEFAULT: u64 = 200;

fn chaos() -> Arc<Scenario> {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios/chaos.yaml");
    let text = std::fs::read_to_string(path).expect("the scenario is there");
    Arc::new(Scenario::parse(&text).expect("the scenario can be read"))
}

fn play(scenario: &Arc<Scenario>, seed: u64) -> Report {
    let mut simulation =
        Simulation::new(scenario.clone(), seed).expect("the cloud sells something");
    simulation.run();
    Report::of(&simulation)
}

#[test]
fn no_rule_is_broken_whatever_goes_wrong() {
    let wanted = std::env::var("KERF_SIM_SEEDS").ok().and_then(|text| text.parse().ok());
    let first = std::env::var("KERF_SIM_FIRST").ok().and_then(|text| text.parse().ok());
    let first: u64 = first.unwrap_or(1);
    let last = first + wanted.unwrap_or(SEEDS_DEFAULT);
    let scenario = chaos();
    let next = AtomicU64::new(first);
    let failed = Mutex::new(Vec::new());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= last {
                break;
            }
            let report = play(&scenario, seed);
            if !report.violations.is_empty() {
                let mut failed = failed.lock().unwrap();
                println!("seed {seed}:");
                for violation in report.violations.iter().take(5) {
                    println!("  {} {}: {}", violation.at.seconds(), violation.rule, violation.what);
                }
                failed.push(seed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "seeds that broke a rule: {failed:?}");
}

/// Each broke a rule once: 2707 opened a node again that was being drained, because the command
/// that had closed it was given up; 5762 launched beside an empty node that could not go yet; in 7302
/// two watches stalled one after the other, for longer than a deletion may take otherwise; in 1424 the
/// rules took the smallest type for sold out in a zone and never looked at the next; 2521 and 2719
/// spared nodes whose deletion was taken and not yet told, and opened them again; 5732 gave the share
/// of the budget that such a deletion had to others; 4076 replaced nodes by two commands at once, each
/// for itself within the limits; in 5438 the rules counted an instance that the cloud took back.
#[test]
fn seeds_that_found_a_defect_stay_clean() {
    let scenario = chaos();
    for seed in [1424, 2521, 2707, 2719, 4076, 5438, 5732, 5762, 7302] {
        let report = play(&scenario, seed);
        assert!(report.violations.is_empty(), "seed {seed}: {:#?}", report.violations);
    }
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_last_byte() {
    let scenario = chaos();
    assert_eq!(play(&scenario, 7), play(&scenario, 7));
}

#[test]
fn another_seed_gives_another_run() {
    let scenario = chaos();
    assert_ne!(play(&scenario, 7).fingerprint, play(&scenario, 8).fingerprint);
}
