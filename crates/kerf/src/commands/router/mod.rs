//! `kerf router`: bring each event to the cluster it belongs to, and to no other.

mod live;
mod simulate;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Arguments of `kerf router`.
#[derive(Args)]
pub(crate) struct Router {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate many clusters, events and faults in memory, beside a set of rules per cluster
    Simulate(simulate::Simulate),
    /// Print what a month costs with rules for each cluster and with the router
    Cost(simulate::CostOf),
    /// Take events from the central queue and bring each to its cluster's queue
    Run(live::Run),
    /// Show how full the router's and the clusters' queues are
    Status(live::StatusOf),
    /// Bring the messages of a dead-letter queue back to the central queue
    Redrive(live::Redrive),
}

impl Router {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Simulate(simulate) => simulate.run(),
            Command::Cost(cost) => cost.run(),
            Command::Run(run) => run.run(),
            Command::Status(status) => status.run(),
            Command::Redrive(redrive) => redrive.run(),
        }
    }
}
