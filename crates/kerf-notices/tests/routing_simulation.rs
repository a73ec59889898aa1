//! The whole router over many events, with faults, under virtual time.

use kerf_notices::routing::{Faults, RoutingSimulation, SimulationReport};
use proptest::prelude::*;

const FIVE_PERCENT: Faults = Faults {
    calls_per_mille: 50,
    entries_per_mille: 50,
    duplicates_per_mille: 50,
    garbage_per_mille: 10,
};

fn nothing_is_wrong(report: &SimulationReport) {
    assert_eq!((report.lost, report.misdelivered, report.repeated), (0, 0, 0), "{report:#?}");
}

#[test]
fn a_hundred_thousand_events_with_five_percent_faults_arrive_once_each() {
    let simulation = RoutingSimulation {
        clusters: 20,
        events: 100_000,
        batch: 100,
        faults: FIVE_PERCENT,
        seed: 1,
    };
    let report = simulation.run();
    nothing_is_wrong(&report);
    assert!(report.faults > 1_000, "faults were injected: {}", report.faults);
    assert!(report.redelivered > 0, "some batches needed a second delivery");
    println!("{report:#?}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let simulation =
        RoutingSimulation { clusters: 7, events: 3_000, batch: 50, faults: FIVE_PERCENT, seed: 9 };
    assert_eq!(simulation.run(), simulation.run());
}

#[test]
fn each_event_goes_to_its_cluster_and_not_to_all() {
    let report = RoutingSimulation {
        clusters: 50,
        events: 20_000,
        batch: 100,
        faults: Faults::default(),
        seed: 4,
    }
    .run();
    nothing_is_wrong(&report);
    assert_eq!(report.fan_out_deliveries, 1_000_000);
    assert!(report.deliveries < 22_000, "{}", report.deliveries);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_faults_lose_or_double_anything(
        clusters in 1usize..40,
        events in 1usize..600,
        batch in 1usize..300,
        calls_per_mille in 0u64..300,
        entries_per_mille in 0u64..300,
        duplicates_per_mille in 0u64..500,
        garbage_per_mille in 0u64..200,
        seed: u64,
    ) {
        let faults =
            Faults { calls_per_mille, entries_per_mille, duplicates_per_mille, garbage_per_mille };
        let report = RoutingSimulation { clusters, events, batch, faults, seed }.run();
        prop_assert_eq!((report.lost, report.misdelivered, report.repeated), (0, 0, 0));
    }
}
