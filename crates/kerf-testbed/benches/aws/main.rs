//! Kerf and Karpenter on AWS, beside each other: a real control plane, the AWS stand-in with kubelets,
//! and the given program. `cargo xtask bench aws` runs it and writes the page.
//!
//! `aws nodes|notices|launches|idle kerf|karpenter PROGRAM COUNT [MINUTES]` prints one JSON object:
//!
//! - `nodes`: spot nodes, and their end: how long until a pod runs on each, and, when all of them are
//!   announced to go at once, until each is closed to pods.
//! - `notices`: mixed notices about as many claims.
//! - `launches`: nodes that boot slowly, while EC2 takes only so many calls.
//! - `idle`: the calls that a quiet cluster costs in so many minutes.
#![allow(clippy::unwrap_used, reason = "a measurement that fails has nothing to say but why")]

mod copies;
mod idle;
mod launches;
mod nodes;
mod notices;
mod objects;
mod process;
mod queue;
mod request_totals;
mod seen;
mod stage;

use std::path::Path;
use std::time::Duration;

use process::Product;

const USAGE: &str = "aws nodes|notices|launches|idle kerf|karpenter PROGRAM COUNT [MINUTES]";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let [what, product, program, count, minutes @ ..] = arguments.as_slice() else { usage() };
    let product = Product::of(product).unwrap_or_else(|| usage());
    let count: usize = count.parse().unwrap_or_else(|_| usage());
    let program = Path::new(program);
    let report = match (what.as_str(), minutes) {
        ("nodes", []) => nodes::measure(product, program, count),
        ("notices", []) => notices::measure(product, program, count),
        ("launches", []) => launches::measure(product, program, count),
        ("idle", [minutes]) => {
            let minutes: u64 = minutes.parse().unwrap_or_else(|_| usage());
            idle::measure(product, program, count, Duration::from_secs(60 * minutes))
        }
        _ => usage(),
    };
    println!("{report}");
}

fn usage() -> ! {
    panic!("usage: {USAGE}")
}
