//! The hot paths of deciding, each by name, for `cargo xtask bench` to count and to time.
//!
//! ```text
//! hot_paths names                 the names whose instructions are recorded
//! hot_paths once NAME             works once; what counts happens inside `counted_work`
//! hot_paths time NAME ROUNDS      the fastest round in microseconds
//! ```

mod algebra;
mod region;
mod without;
mod workload;

use std::process::ExitCode;
use std::time::Instant;

/// Hot paths whose instructions are recorded. `replicas-1` is what reading 400 instance types
/// costs.
const NAMES: [&str; 13] = [
    "replicas-1",
    "replicas-10000",
    "mixed-1000",
    "min-values-1000",
    "preferences-4000",
    "existing-2000",
    "overlay-50000",
    "without-50000",
    "packed-50000",
    "region-plan",
    "requirements-intern",
    "requirements-narrow",
    "requirements-conflict",
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["names"] => NAMES.iter().for_each(|name| println!("{name}")),
        ["once", name] => match work(name) {
            Some(mut job) => counted_work(&mut job),
            None => return unknown(name),
        },
        ["time", name, rounds] => match (work(name), rounds.parse()) {
            (Some(mut job), Ok(rounds)) => println!("{}", fastest_micros(&mut job, rounds)),
            _ => return unknown(name),
        },
        // What `cargo bench` starts.
        _ => {
            NAMES.iter().filter_map(|name| Some((name, work(name)?))).for_each(|(name, mut job)| {
                println!("{name:<24} {:>10} µs", fastest_micros(&mut job, 5));
            })
        }
    }
    ExitCode::SUCCESS
}

/// What is measured, with everything it needs made beforehand.
fn work(name: &str) -> Option<Box<dyn FnMut()>> {
    if let Some(job) =
        algebra::work(name).or_else(|| without::work(name)).or_else(|| region::work(name))
    {
        return Some(job);
    }
    let problem = workload::problem(name)?;
    Some(Box::new(move || {
        std::hint::black_box(kerf_scheduler::solve(std::hint::black_box(&problem)));
    }))
}

/// Callgrind counts from the entry of the function of this name to its return, so it must stay one.
#[inline(never)]
fn counted_work(job: &mut dyn FnMut()) {
    job();
}

fn fastest_micros(job: &mut dyn FnMut(), rounds: u32) -> u128 {
    let time = |_| {
        let start = Instant::now();
        job();
        start.elapsed().as_micros()
    };
    (0..rounds.max(1)).map(time).min().expect("there is a first round")
}

fn unknown(name: &str) -> ExitCode {
    eprintln!("There is no hot path named {name}.");
    ExitCode::FAILURE
}
