//! Clusters beyond the size up to which a second strategy is tried.

use std::num::NonZeroUsize;

use kerf_consolidation::{Kept, Search, Settings, Snapshot, plan};
use kerf_model::labels::well_known;
use kerf_model::pod::PodShape;
use kerf_model::quantity::Quantity;
use kerf_model::resources::MEMORY;
use kerf_model::rng::SplitMix64;
use kerf_scheduler::PreparedCluster;

use crate::carrying_out::violations;
use crate::cluster::{ZONES, add, add_node, cluster, on_demand_type, set_types, shape};

/// Half of them idle, half of them busy: the pods of the idle ones just fit on the others.
const NODES: usize = 260;
/// What a packed cluster must get back of what the bound allows when a fifth of its pods is gone.
const SHARE_MIN_PERCENT: u64 = 95;
/// The same where one in twenty is gone, and what nodes lack is not what others have left.
const LITTLE_SHARE_MIN_PERCENT: u64 = 79;

fn idle_and_busy() -> Snapshot {
    let mut snapshot = cluster();
    for node in 0..NODES {
        let pods: &[i64] = if node % 2 == 0 { &[3, 3] } else { &[1, 1] };
        add(&mut snapshot, "c8", pods);
    }
    snapshot
}

/// Nodes that were full, of whose pods a fifth is gone.
fn packed(seed: u64) -> Snapshot {
    let rng = &mut SplitMix64::new(seed);
    let mut snapshot = cluster();
    for _ in 0..NODES {
        let (name, cpus) = [("c8", 8), ("c16", 16), ("c32", 32)][rng.below(3)];
        let (mut free, mut pods) = (cpus, Vec::new());
        while free > 0 {
            let pod = i64::try_from(rng.between(1, 4)).expect("a small number").min(free);
            free -= pod;
            if rng.below(5) > 0 {
                pods.push(pod);
            }
        }
        add(&mut snapshot, name, &pods);
    }
    snapshot
}

/// Nodes as small as their ten pods allow, some of which want memory and some processors; one in
/// twenty pods is gone.
fn lopsided(seed: u64) -> Snapshot {
    let rng = &mut SplitMix64::new(seed);
    let mut snapshot = cluster();
    set_types(&mut snapshot, (1..=64).map(on_demand_type).collect());
    for _ in 0..NODES {
        let mut small = |most: u64| i64::try_from(rng.between(1, most)).expect("a small number");
        let pods: Vec<(i64, i64)> = (0..10).map(|_| (small(4), small(16))).collect();
        let cpus: i64 = pods.iter().map(|pod| pod.0).sum();
        let gibibytes: i64 = pods.iter().map(|pod| pod.1).sum();
        let size = cpus.max((gibibytes + 3) / 4);
        let left = pods.into_iter().filter(|_| rng.below(20) > 0);
        let shapes: Vec<PodShape> = left
            .map(|(cpu, gibibytes)| {
                let mut shape = shape("web", cpu);
                shape.requests.insert(MEMORY, Quantity::from_bytes(gibibytes << 30));
                shape
            })
            .collect();
        let place = (ZONES[0], well_known::ON_DEMAND);
        add_node(&mut snapshot, &format!("c{size}"), place, shapes);
    }
    snapshot
}

#[test]
fn of_many_nodes_the_emptier_ones_go_and_every_node_is_looked_at() {
    let snapshot = idle_and_busy();
    let plan = plan(&snapshot, &Settings::default());
    let mut removed: Vec<usize> = plan.moves.iter().flat_map(|it| it.removed.clone()).collect();
    removed.sort_unstable();
    let idle: Vec<usize> = (0..NODES).filter(|node| node % 2 == 1).collect();
    assert_eq!(removed, idle);
    assert!(plan.kept.iter().all(|kept| *kept != Some(Kept::NotReached)));
    assert!(plan.moves.iter().all(|each| each.launches.is_empty()));
}

#[test]
fn of_nodes_that_are_alike_and_stay_only_the_first_few_are_asked_about() {
    let mut snapshot = cluster();
    for _ in 0..NODES {
        add(&mut snapshot, "c8", &[4, 4]);
    }
    let (cluster, settings) = (PreparedCluster::read(&snapshot.problem), Settings::default());
    let mut search = Search::new(&snapshot, &cluster, &settings);
    search.run(|| false);
    let plan = search.plan();
    assert!(plan.moves.is_empty());
    // One alone, and one group of each size.
    assert!(search.what_ifs() <= 4, "{} what-ifs", search.what_ifs());
    let costs_as_much = |kept: &Option<Kept>| matches!(kept, Some(Kept::NotCheaper { .. }));
    assert!(plan.kept.iter().all(costs_as_much), "{:?}", plan.kept);
}

#[test]
fn those_that_were_not_reached_come_first_among_many_nodes_too() {
    let snapshot = idle_and_busy();
    let (cluster, settings) = (PreparedCluster::read(&snapshot.problem), Settings::default());
    let mut search = Search::new(&snapshot, &cluster, &settings);
    let last = snapshot.problem.nodes[NODES - 2].name.clone();
    search.visit_first(std::slice::from_ref(&last));
    let mut steps = 0;
    search.run(|| {
        steps += 1;
        steps > 1
    });
    assert!(!search.unreached().contains(&last), "a busy node, by nature among the last");
    assert!(
        search.unreached().len() > NODES / 2,
        "one step reaches it and those that take its pods"
    );
}

#[test]
fn a_packed_cluster_gets_most_of_what_the_bound_allows_on_any_number_of_threads() {
    for seed in 0..3 {
        let snapshot = packed(seed);
        let once = plan(&snapshot, &Settings::default());
        let threads = NonZeroUsize::new(4).expect("not zero");
        let threaded = plan(&snapshot, &Settings { threads, ..Settings::default() });
        assert_eq!(once, threaded, "seed {seed}");
        assert_eq!(violations(&snapshot, &once), Vec::<String>::new(), "seed {seed}");
        let (saving, bound) =
            (once.saving().micros_per_hour(), once.saving_bound.micros_per_hour());
        println!("seed {seed}: {} of {} $/h saved", once.saving(), once.saving_bound);
        assert!(saving * 100 >= bound * SHARE_MIN_PERCENT, "seed {seed}: {saving} of {bound}");
    }
}

#[test]
fn little_slack_is_found_by_what_is_paid_for_nothing() {
    for seed in 0..3 {
        let snapshot = lopsided(seed);
        let plan = plan(&snapshot, &Settings::default());
        assert_eq!(violations(&snapshot, &plan), Vec::<String>::new(), "seed {seed}");
        let (saving, bound) =
            (plan.saving().micros_per_hour(), plan.saving_bound.micros_per_hour());
        println!("seed {seed}: {} of {} $/h saved", plan.saving(), plan.saving_bound);
        assert!(saving * 100 >= bound * LITTLE_SHARE_MIN_PERCENT, "seed {seed}: {saving}");
    }
}
