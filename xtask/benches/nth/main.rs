//! The termination handler as a program: a real API server with nodes that have no kubelets, the AWS
//! stand-in, and the metadata service's. `cargo xtask bench nth` runs it and writes the page.
//!
//! It prints one JSON object:
//!
//! - `nth events PROGRAM COUNT…`: so many spot interruption notices at once, each about a node with a
//!   pod: how long until every node is cordoned, and what that costs in calls.
//! - `nth cluster PROGRAM NODES PODS`: what queue mode takes in a cluster of so many nodes with so many
//!   pods each.
//! - `nth metadata PROGRAM NODES SECONDS`: what IMDS mode takes on a quiet node of so many, watched for
//!   so many seconds.
#![allow(clippy::unwrap_used, reason = "a measurement that fails has nothing to say but why")]

mod cluster;
mod cordons;
mod events;
mod handler;
mod metadata;
#[path = "../../../crates/kerf-testbed/benches/aws/queue.rs"]
#[allow(dead_code, reason = "only spot interruptions are announced here")]
mod queue;
#[path = "../../../crates/kerf-testbed/benches/aws/request_totals.rs"]
mod request_totals;
mod stage;

use std::path::Path;

const USAGE: &str = "nth events PROGRAM COUNT… | nth cluster PROGRAM NODES PODS | \
                     nth metadata PROGRAM NODES SECONDS";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let [what, program, numbers @ ..] = arguments.as_slice() else { usage() };
    let program = Path::new(program);
    let numbers = numbers.iter().map(|number| number.parse().unwrap_or_else(|_| usage()));
    let numbers: Vec<usize> = numbers.collect();
    let report = match (what.as_str(), numbers.as_slice()) {
        ("events", counts @ [_, ..]) => events::measure(program, counts),
        ("cluster", [nodes, pods]) => cluster::measure(program, *nodes, *pods),
        ("metadata", [nodes, seconds]) => metadata::measure(program, *nodes, *seconds),
        _ => usage(),
    };
    println!("{report}");
}

fn usage() -> ! {
    panic!("usage: {USAGE}")
}
