//! The benchmarks of the workspace.

use anyhow::Result;

use crate::command::{self, cargo};

/// Runs every benchmark whose name holds the filter.
pub(crate) fn run(args: &[String]) -> Result<()> {
    command::run(cargo(["bench", "--workspace", "--benches", "--"]).args(args))
}
