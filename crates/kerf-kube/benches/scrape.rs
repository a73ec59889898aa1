//! What the page of a scrape costs in a large cluster.
//!
//! ```text
//! scrape PODS ROUNDS   prints one line of JSON; without them, one round with a thousand pods
//! ```

#[path = "../../kerf-engine/benches/large_cluster/cluster.rs"]
#[expect(dead_code, reason = "nothing happens here but that somebody looks")]
mod cluster;
#[path = "../../kerf-scheduler/benches/hot_paths/workload/mod.rs"]
mod workload;

use std::time::Instant;

use cluster::LargeCluster;
use kerf_kube::{Metrics, Shows};
use kerf_runtime::FailureLog;
use kerf_runtime::metrics::Registry;

fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let (pods, rounds) = match numbers[..] {
        [pods, rounds] => (pods, rounds.max(1)),
        _ => (1_000, 1),
    };
    let problem = workload::problem(&format!("running-{pods}")).expect("the family is there");
    let cluster = LargeCluster::new(&problem);
    let (world, now) = cluster.snapshot();
    let metrics = Metrics::new(Registry::default(), Shows::Everything);
    let failures = FailureLog::default();
    let write = |_| {
        let start = Instant::now();
        let page = metrics.page(&world, &failures, now);
        (start.elapsed().as_micros(), page.len())
    };
    let (micros, bytes) = (0..rounds).map(write).min().expect("there is a first round");
    println!(r#"{{"pods": {pods}, "micros": {micros}, "bytes": {bytes}}}"#);
}
