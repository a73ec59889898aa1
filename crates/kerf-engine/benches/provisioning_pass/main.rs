//! What a pass over a few pending pods costs in a large, quiet cluster: from the moment the window
//! closes to the moment the actions are decided. For `cargo xtask bench` to count and to time.
//!
//! ```text
//! provisioning_pass names              the names whose instructions are recorded
//! provisioning_pass once NAME          works once; what counts happens inside `counted_work`
//! provisioning_pass time NAME ROUNDS   the fastest round in microseconds
//! ```

mod cluster;
#[path = "../../../kerf-scheduler/benches/hot_paths/workload/mod.rs"]
mod workload;

use std::process::ExitCode;
use std::time::Instant;

use cluster::LargeCluster;

/// `quiet-pass-50000`: ten pods wait, 50,000 run on 5,000 nodes, and a pass went before.
const NAMES: [&str; 1] = ["quiet-pass-50000"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["names"] => NAMES.iter().for_each(|name| println!("{name}")),
        ["once", name] => match large_cluster(name) {
            Some(mut cluster) => {
                cluster.warm_up();
                cluster.pods_come();
                counted_work(&mut || cluster.pass());
            }
            None => return unknown(name),
        },
        ["time", name, rounds] => match (large_cluster(name), rounds.parse()) {
            (Some(cluster), Ok(rounds)) => println!("{}", fastest_micros(cluster, rounds)),
            _ => return unknown(name),
        },
        // What `cargo bench` starts.
        _ => {
            for name in NAMES {
                let cluster = large_cluster(name).expect("the names are known");
                println!("{name:<24} {:>10} µs", fastest_micros(cluster, 5));
            }
        }
    }
    ExitCode::SUCCESS
}

fn large_cluster(name: &str) -> Option<LargeCluster> {
    let pods = name.strip_prefix("quiet-pass-")?;
    Some(LargeCluster::new(&workload::problem(&format!("running-{pods}"))?))
}

/// Callgrind counts from the entry of the function of this name to its return, so it must stay one.
#[inline(never)]
fn counted_work(job: &mut dyn FnMut()) {
    job();
}

fn fastest_micros(mut cluster: LargeCluster, rounds: u32) -> u128 {
    cluster.warm_up();
    let time = |_| {
        cluster.pods_come();
        let start = Instant::now();
        cluster.pass();
        start.elapsed().as_micros()
    };
    (0..rounds.max(1)).map(time).min().expect("there is a first round")
}

fn unknown(name: &str) -> ExitCode {
    eprintln!("There is no hot path named {name}.");
    ExitCode::FAILURE
}
