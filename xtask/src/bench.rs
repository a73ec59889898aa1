//! Benchmarks: instructions against those on record, figures at scale, and Karpenter beside Kerf.

mod aws;
mod callgrind;
mod consolidation;
mod disruption;
mod e2e;
mod engine;
pub(crate) mod executable;
mod instructions;
mod nth;
mod page;
mod peer;
mod record;
mod router;
mod scale;
mod watch;

use anyhow::Result;

/// `peer [ARGS]` compares with Karpenter, `scale` measures large problems, `e2e [WORKLOAD]` pods on a
/// real control plane, `aws [WHAT] [kerf]` nodes and notices on the AWS stand-in, `engine [NODES…]` the
/// engine in large clusters, `consolidation` plans for whole clusters, `e2e disruption [CASE]` what
/// becomes of real ones, `router` the event router, `nth` the termination handler; anything else is for
/// the instruction counts.
pub(crate) fn run(args: &[String]) -> Result<()> {
    match args.split_first() {
        Some((first, rest)) if first == "peer" => peer::run_peer(rest),
        Some((first, _)) if first == "scale" => scale::run(),
        Some((first, rest)) if first == "aws" => aws::run(rest),
        Some((first, rest)) if first == "e2e" => e2e::run(rest),
        Some((first, rest)) if first == "consolidation" => consolidation::run(rest),
        Some((first, rest)) if first == "engine" => engine::run(rest),
        Some((first, rest)) if first == "nth" => nth::run(rest),
        Some((first, rest)) if first == "router" => router::run(rest),
        _ => instructions::run(args),
    }
}
