//! Plans for clusters made up by chance, each judged by the independent checker.
//!
//! `KERF_CHECK_PROBLEMS` says how many seeds to try (100 unless set). A failure names its seed.

use std::num::NonZeroUsize;

use kerf_checker::{Size, random_problem};
use kerf_consolidation::{EvictionCost, Ineligible, NodeFacts, Search, Settings, Snapshot, plan};
use kerf_model::rng::SplitMix64;
use kerf_scheduler::PreparedCluster;

use crate::carrying_out::violations;

const SEEDS_DEFAULT: u64 = 100;
/// Failures shown in full.
const SHOWN_MAX: usize = 5;

/// Tries every seed; `wrong` says what is wrong with one.
pub(crate) fn for_every_cluster(wrong: impl Fn(&Snapshot) -> Vec<String>) {
    let set = std::env::var("KERF_CHECK_PROBLEMS").ok();
    let count = set.map_or(SEEDS_DEFAULT, |text| text.parse().expect("a number of seeds"));
    let mut found = Vec::new();
    for seed in 0..count {
        let wrong = wrong(&random_snapshot(seed));
        found.extend(wrong.into_iter().map(|it| format!("seed {seed}: {it}")));
    }
    let shown = found[..found.len().min(SHOWN_MAX)].join("\n");
    assert!(found.is_empty(), "{} violations:\n{shown}", found.len());
}

/// A cluster in which most nodes may go; the same for the same seed.
pub(crate) fn random_snapshot(seed: u64) -> Snapshot {
    let size = Size { pods: 6, nodes: 14, ..Size::MEDIUM };
    let problem = random_problem(seed, &size);
    let rng = &mut SplitMix64::new(seed);
    let facts = problem.nodes.iter().map(|node| {
        let pods = node.pods.iter().filter(|bound| !bound.is_daemon);
        let cost =
            EvictionCost::of_node(pods.map(|_| EvictionCost::of_pod(0, rng.below(1 << 25) as i32)));
        let is_known = node.pool.is_some() && node.initialized;
        NodeFacts {
            may_go: match (is_known, rng.below(10)) {
                (false, _) => Err(Ineligible::NotManaged),
                (true, 0) => Err(Ineligible::DoNotDisruptNode),
                (true, _) => Ok(()),
            },
            may_receive: node.initialized && rng.below(10) > 0,
            reschedule_cost: cost,
            disruption_cost: cost,
            was_undone: rng.below(8) == 0,
        }
    });
    Snapshot { nodes: facts.collect(), problem }
}

/// Settings under which every saving counts.
pub(crate) fn eager() -> Settings {
    Settings { spot_to_spot: true, payback_max_seconds: u64::MAX, ..Settings::default() }
}

#[test]
fn every_plan_is_legal_after_every_move() {
    for_every_cluster(|snapshot| violations(snapshot, &plan(snapshot, &eager())));
}

#[test]
fn plans_never_make_a_cluster_dearer_and_stay_below_their_bound() {
    for_every_cluster(|snapshot| {
        let plan = plan(snapshot, &eager());
        let mut wrong = Vec::new();
        if plan.price_after > plan.price_before {
            wrong.push(format!("{} after {}", plan.price_after, plan.price_before));
        }
        if plan.saving() > plan.saving_bound {
            wrong.push(format!("{} saved of at most {}", plan.saving(), plan.saving_bound));
        }
        wrong
    });
}

#[test]
fn the_plan_is_the_same_on_any_number_of_threads_and_however_often_it_is_stopped() {
    for_every_cluster(|snapshot| {
        let once = plan(snapshot, &eager());
        let threads = NonZeroUsize::new(4).expect("not zero");
        let threaded = plan(snapshot, &Settings { threads, ..eager() });
        let (cluster, settings) = (PreparedCluster::read(&snapshot.problem), eager());
        let mut search = Search::new(snapshot, &cluster, &settings);
        let mut steps = 0;
        while !search.run(|| {
            steps += 1;
            steps % 2 == 0
        }) {}
        let mut wrong = Vec::new();
        if threaded != once {
            wrong.push("another plan on four threads".to_owned());
        }
        if search.plan() != once {
            wrong.push("another plan when stopped after every step".to_owned());
        }
        wrong
    });
}
