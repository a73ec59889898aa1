//! How fast one core routes: parsing, owners, queues, batches and verdicts, with a warm cache.
//!
//! ```text
//! router names             the hot paths whose instructions are recorded
//! router once NAME         works once; what counts happens inside `counted_work`
//! router simulate          calls to EC2, and a day with faults, as a line of JSON
//! router                   events a second of each hot path, as a line of JSON
//! ```

mod account;
mod simulate;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use account::{Account, BATCH, payload};
use kerf_notices::message::{Input, Record, recognise};

/// Message bodies, and whole payloads of a function, out of which bodies have to be taken first.
const NAMES: [&str; 2] = ["route-bodies", "route-payloads"];

/// Batches whose instructions are counted.
const COUNTED: usize = 5;

/// Measured: the median of so many rounds, each of so many laps of so many batches. What a lap takes
/// from the queue is made before its clock runs, a little at a time, as it would arrive.
const ROUNDS: usize = 7;
const LAPS: usize = 50;
const LAP: usize = 25;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut account = Account::warm();
    match args[..] {
        ["names"] => NAMES.iter().for_each(|name| println!("{name}")),
        ["simulate"] => println!("{}", simulate::report()),
        ["once", "route-bodies"] => {
            let mut batches = account.batches(COUNTED);
            counted_work(&mut || _ = account.route(batches.drain(..)));
        }
        ["once", "route-payloads"] => {
            let payloads = payloads(account.batches(COUNTED));
            counted_work(&mut || _ = account.route(payloads.iter().map(|text| records(text))));
        }
        ["once", name] => {
            eprintln!("There is no hot path named {name}.");
            return ExitCode::FAILURE;
        }
        _ => {
            let bodies =
                median(&mut account, |batches| batches, |account, batches| account.route(batches));
            let payloads = median(&mut account, payloads, |account, payloads: Vec<String>| {
                account.route(payloads.iter().map(|text| records(text)))
            });
            println!(
                "{{\"bodies_per_second\":{bodies},\"payloads_per_second\":{payloads},\
                 \"batch\":{BATCH}}}"
            );
        }
    }
    ExitCode::SUCCESS
}

/// Callgrind counts from the entry of the function of this name to its return, so it must stay one.
#[inline(never)]
fn counted_work(job: &mut dyn FnMut()) {
    job();
}

fn payloads(batches: Vec<Vec<Record>>) -> Vec<String> {
    batches.iter().map(|batch| payload(batch)).collect()
}

fn records(payload: &str) -> Vec<Record> {
    match recognise(payload) {
        Ok(Input::Batch(records)) => records,
        other => panic!("not a batch: {other:?}"),
    }
}

/// Events a second in the median round.
fn median<T>(
    account: &mut Account,
    make: impl Fn(Vec<Vec<Record>>) -> T,
    route: impl Fn(&mut Account, T) -> usize,
) -> u128 {
    let round = |_| {
        let (mut routed, mut spent) = (0, Duration::ZERO);
        for _ in 0..LAPS {
            let made = make(account.batches(LAP));
            let clock = Clock::start();
            routed += route(account, made);
            spent += clock.elapsed();
        }
        routed as u128 * 1_000_000_000 / spent.as_nanos().max(1)
    };
    let mut rounds: Vec<_> = (0..ROUNDS).map(round).collect();
    rounds.sort_unstable();
    rounds[ROUNDS / 2]
}

/// Time this process spent on a core, where the kernel tells: other programs of a shared machine
/// then do not count.
struct Clock {
    on_core: Option<Duration>,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { on_core: on_core(), wall: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.on_core, on_core()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }
}

fn on_core() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
