//! A plan for a large cluster: how long it takes, how much memory, and what it saves of what could
//! be saved.
//!
//! ```text
//! whole_cluster [PODS [SLACK_PERCENT [THREADS]]]    50,000 pods on 5,000 nodes, 20 %, two threads
//! whole_cluster json PODS SLACK_PERCENT THREADS      the same figures for programs
//! whole_cluster names                                what can be counted
//! whole_cluster once consolidate-2000                plans once, inside `counted_work`
//! ```
//!
//! The cluster is the scheduler's `packed` family, each node as small as its ten pods allow, of
//! which then so many in a hundred are gone.

#[path = "../../../kerf-scheduler/benches/hot_paths/workload/mod.rs"]
mod workload;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kerf_consolidation::{EvictionCost, NodeFacts, Plan, Search, Settings, Snapshot};
use kerf_model::price::Price;
use kerf_model::rng::SplitMix64;
use kerf_scheduler::PreparedCluster;

const SEED: u64 = 42;
/// Whose instructions can be counted in seconds.
const COUNTED: &str = "consolidate-2000";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["names"] => println!("{COUNTED}"),
        ["json", pods, slack, threads] => {
            let number = |text: &str| text.parse().expect("a number");
            println!("{}", measure(number(pods), number(slack), number(threads)).json());
        }
        ["once", COUNTED] => {
            let snapshot = with_slack(2_000, 20);
            counted_work(&snapshot);
        }
        _ => {
            let number = |place: usize, default| {
                args.get(place).map_or(default, |text| text.parse().expect("a number"))
            };
            measure(number(0, 50_000), number(1, 20), number(2, 2)).tell();
        }
    }
}

/// Callgrind counts from the entry of the function of this name to its return, so it must stay one.
#[inline(never)]
fn counted_work(snapshot: &Snapshot) {
    std::hint::black_box(kerf_consolidation::plan(snapshot, &Settings::default()));
}

/// A plan, and what it took.
struct Measured {
    plan: Plan,
    nodes: usize,
    pods: usize,
    read: Duration,
    took: Duration,
    peak_kib: u64,
}

fn measure(pods: usize, slack_percent: usize, threads: usize) -> Measured {
    let snapshot = with_slack(pods, slack_percent);
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let settings = Settings { threads, ..Settings::default() };
    let before_kib = peak_kib();
    let start = Instant::now();
    let cluster = PreparedCluster::read(&snapshot.problem);
    let mut search = Search::new(&snapshot, &cluster, &settings);
    let read = start.elapsed();
    search.run(|| false);
    let took = start.elapsed();
    let pods = snapshot.problem.nodes.iter().map(|node| node.pods.len()).sum();
    let peak_kib = peak_kib() - before_kib;
    Measured { plan: search.plan(), nodes: snapshot.nodes.len(), pods, read, took, peak_kib }
}

impl Measured {
    fn removed(&self) -> usize {
        self.plan.moves.iter().map(|each| each.removed.len()).sum()
    }

    fn launched(&self) -> usize {
        self.plan.moves.iter().map(|each| each.launches.len()).sum()
    }

    /// Pods that move: each node that goes costs one beside its pods.
    fn evictions(&self) -> u64 {
        let removed = u64::try_from(self.removed()).expect("a small number");
        (self.plan.eviction_cost().millis() / 1000).saturating_sub(removed)
    }

    fn tell(&self) {
        let Self { plan, nodes, pods, read, took, peak_kib } = self;
        println!("{nodes} nodes, {pods} pods");
        println!("read {read:?}, in all {took:?}, peak {} MiB", peak_kib / 1024);
        let (removed, launched) = (self.removed(), self.launched());
        println!("{} moves: {removed} nodes go, {launched} come", plan.moves.len());
        println!(
            "{} $/h, then {}; saves {} of at most {}, {} evictions",
            plan.price_before,
            plan.price_after,
            plan.saving(),
            plan.saving_bound,
            self.evictions()
        );
    }

    fn json(&self) -> serde_json::Value {
        let micros = |price: Price| price.micros_per_hour();
        serde_json::json!({
            "nodes": self.nodes,
            "pods": self.pods,
            "micros": u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
            "peakBytes": self.peak_kib * 1024,
            "moves": self.plan.moves.len(),
            "removed": self.removed(),
            "launched": self.launched(),
            "evictions": self.evictions(),
            "priceMicros": micros(self.plan.price_before),
            "savingMicros": micros(self.plan.saving()),
            "boundMicros": micros(self.plan.saving_bound),
        })
    }
}

/// The most memory that the process ever had.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// The packed cluster, of whose pods so many in a hundred are gone.
fn with_slack(pods: usize, slack_percent: usize) -> Snapshot {
    let mut problem = workload::problem(&format!("packed-{pods}")).expect("there is such a family");
    let rng = &mut SplitMix64::new(SEED);
    for node in &mut problem.nodes {
        Arc::make_mut(node).pods.retain(|_| rng.below(100) >= slack_percent);
    }
    let facts = problem.nodes.iter().map(|node| {
        let cost = EvictionCost::of_node(node.pods.iter().map(|_| EvictionCost::ONE));
        NodeFacts {
            may_go: Ok(()),
            may_receive: true,
            reschedule_cost: cost,
            disruption_cost: cost,
            was_undone: false,
        }
    });
    Snapshot { nodes: facts.collect(), problem }
}
