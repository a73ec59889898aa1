//! How the engine grows with the cluster: a simulated hour with so many nodes and ten pods on each.
//!
//! ```text
//! growth NODES       prints one line of JSON; without it, an hour with fifty nodes
//! growth names       the names whose instructions are recorded
//! growth once NAME   plays once; what counts is the engine's own work, from the first node on
//! ```
//!
//! The engine's own time is measured apart from the simulator's, whose API server, scheduler,
//! kubelets and checker run in the same process. Memory is what the engine holds at the end with all
//! it was told, and the largest size of the whole process.

use std::alloc::System;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cap::Cap;
use kerf_engine::time::Span;
use kerf_sim::{Busy, Report, Scenario, Simulation};

/// Counts what is on the heap.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

const PODS_PER_NODE: u32 = 10;
/// By then everybody runs, and the hour begins.
const GROWN_AFTER: Span = Span::from_minutes(20);
const HOUR: Span = Span::from_minutes(60);

/// The nodes of the cluster whose instructions are recorded: few enough for a simulated processor,
/// and enough that what grows with their square shows.
const NODES_COUNTED: u32 = 300;
/// How such a cluster is named.
const FAMILY: &str = "hour-";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let nodes = match args[..] {
        ["names"] => return println!("{FAMILY}{NODES_COUNTED}"),
        ["once", name] => name.strip_prefix(FAMILY).and_then(|nodes| nodes.parse().ok()),
        _ => Some(args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(50)),
    };
    let nodes = nodes.unwrap_or_else(|| panic!("`growth names` lists what there is"));
    let text = scenario(nodes);
    let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::new(Arc::new(scenario), 1);
    let mut simulation = simulation.unwrap_or_else(|error| panic!("{error}"));
    let start = simulation.now();
    let grown = measure(&mut simulation, start + GROWN_AFTER);
    let hour = measure(&mut simulation, start + GROWN_AFTER + HOUR);
    assert!(simulation.checker().violations.is_empty(), "{:#?}", Report::of(&simulation));
    let peak = peak_bytes();
    let engines = simulation.into_engines();
    let held = HEAP.allocated();
    drop(engines);
    println!(
        r#"{{"nodes": {nodes}, "growMillis": {}, "hourMillis": {}, "engineMillis": {}, "longestMicros": {}, "steps": {}, "engineBytes": {held}, "peakBytes": {peak}}}"#,
        grown.took.as_millis(),
        hour.took.as_millis(),
        hour.engine.took.as_millis(),
        hour.engine.longest.as_micros(),
        hour.steps,
    );
}

struct Measured {
    took: Duration,
    engine: Busy,
    steps: u64,
}

/// Plays until a time. The process has one thread, so time on the clock is processor time wherever
/// nobody else wants the processor.
fn measure(simulation: &mut Simulation, until: kerf_engine::time::Time) -> Measured {
    simulation.take_busy();
    let (start, before) = (Instant::now(), simulation.steps());
    while simulation.now() < until && simulation.step() {}
    let engine = simulation.take_busy();
    Measured { took: start.elapsed(), engine, steps: simulation.steps() - before }
}

/// One Deployment fills the nodes; in each quarter of the hour a hundredth of it goes and comes back.
fn scenario(nodes: u32) -> String {
    let pods = nodes * PODS_PER_NODE;
    let fewer = pods - pods / 100;
    let mut timeline = String::new();
    for quarter in 0..4 {
        let minute = 20 + quarter * 15;
        timeline += &format!("  - {{at: {}m, scale: web, to: {fewer}, over: 2m}}\n", minute + 2);
        timeline += &format!("  - {{at: {}m, scale: web, to: {pods}, over: 2m}}\n", minute + 8);
    }
    format!(
        "\
name: growth
about: An hour in a large cluster.
ends: 80m
cloud:
  catalogue: kwok
  zones: [a, b, c]
pools:
  - name: general
    requirements: [os in linux, arch in amd64, capacity in on-demand, type in c-16x-amd64-linux]
    consolidateAfter: 5m
    budgets: [{{nodes: 10%}}]
workloads:
  - deployment: web
    replicas: {pods}
    requests: {{cpu: 1500m, memory: 2Gi}}
timeline:
{timeline}"
    )
}

/// The largest resident size so far, where the system tells.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
