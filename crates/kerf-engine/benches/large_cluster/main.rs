//! What things cost in a large cluster, in the engine alone. For `cargo xtask bench` to count and to
//! time.
//!
//! ```text
//! large_cluster names                 the names whose instructions are recorded
//! large_cluster once NAME             works once; what counts happens inside `counted_work`
//! large_cluster time NAME ROUNDS      the fastest round in microseconds
//! large_cluster notices PODS SECONDS  how long spot notices wait in a busy engine, in microseconds
//! ```

mod busy;
mod cluster;
#[path = "../../../kerf-scheduler/benches/hot_paths/workload/mod.rs"]
mod workload;

use std::process::ExitCode;
use std::time::Instant;

use cluster::LargeCluster;

/// Something that happens in a large cluster.
struct Happening {
    name: &'static str,
    /// Done before, and not counted.
    before: fn(&mut LargeCluster),
    what: fn(&mut LargeCluster),
}

const HAPPENINGS: [Happening; 4] = [
    // Ten pods wait, and a pass went before: from the moment the window closes to the moment the
    // actions are decided.
    Happening { name: "quiet-pass", before: LargeCluster::pods_come, what: LargeCluster::pass },
    // The kubelet writes that a pod is ready.
    Happening {
        name: "pod-event",
        before: LargeCluster::is_quiet,
        what: LargeCluster::pod_changes,
    },
    // A spot instance is about to be taken.
    Happening { name: "notice", before: LargeCluster::is_quiet, what: LargeCluster::spot_notice },
    // Somebody asks for the metrics: what they are read from is copied, so that they can be written
    // beside the engine.
    Happening {
        name: "scrape-copy",
        before: LargeCluster::is_quiet,
        what: LargeCluster::copy_for_scrape,
    },
];
/// The pods of the clusters whose instructions are recorded; ten run on each node.
const PODS: &str = "50000";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["names"] => HAPPENINGS.iter().for_each(|it| println!("{}-{PODS}", it.name)),
        ["once", name] => match large_cluster(name) {
            Some((mut cluster, it)) => {
                cluster.warm_up();
                (it.before)(&mut cluster);
                counted_work(&mut || (it.what)(&mut cluster));
            }
            None => return unknown(name),
        },
        ["time", name, rounds] => match (large_cluster(name), rounds.parse()) {
            (Some((cluster, it)), Ok(rounds)) => {
                println!("{}", fastest_micros(cluster, it, rounds))
            }
            _ => return unknown(name),
        },
        ["notices", pods, seconds] => match (of_size(pods), seconds.parse()) {
            (Some(cluster), Ok(seconds)) => println!("{}", busy::notices(cluster, seconds)),
            _ => return unknown(pods),
        },
        // What `cargo bench` starts.
        _ => {
            for name in HAPPENINGS.iter().map(|it| format!("{}-{PODS}", it.name)) {
                let (cluster, it) = large_cluster(&name).expect("the names are known");
                println!("{name:<24} {:>10} µs", fastest_micros(cluster, it, 5));
            }
        }
    }
    ExitCode::SUCCESS
}

fn large_cluster(name: &str) -> Option<(LargeCluster, &'static Happening)> {
    let (name, pods) = name.rsplit_once('-')?;
    let it = HAPPENINGS.iter().find(|it| it.name == name)?;
    Some((of_size(pods)?, it))
}

fn of_size(pods: &str) -> Option<LargeCluster> {
    Some(LargeCluster::new(&workload::problem(&format!("running-{pods}"))?))
}

/// Callgrind counts from the entry of the function of this name to its return, so it must stay one.
#[inline(never)]
fn counted_work(job: &mut dyn FnMut()) {
    job();
}

fn fastest_micros(mut cluster: LargeCluster, it: &Happening, rounds: u32) -> u128 {
    cluster.warm_up();
    let time = |_| {
        (it.before)(&mut cluster);
        let start = Instant::now();
        (it.what)(&mut cluster);
        start.elapsed().as_micros()
    };
    (0..rounds.max(1)).map(time).min().expect("there is a first round")
}

fn unknown(name: &str) -> ExitCode {
    eprintln!("There is no {name} here; `large_cluster names` lists what there is.");
    ExitCode::FAILURE
}
