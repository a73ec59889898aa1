//! The benchmarks of the workspace.

use anyhow::Result;

use crate::command::{self, cargo};
use crate::peer;

/// `peer [ARGS]` compares with the peer; anything else filters the benchmarks by name.
pub(crate) fn run(args: &[String]) -> Result<()> {
    match args.split_first() {
        Some((first, rest)) if first == "peer" => peer::run_peer(rest),
        _ => command::run(cargo(["bench", "--workspace", "--benches", "--"]).args(args)),
    }
}
