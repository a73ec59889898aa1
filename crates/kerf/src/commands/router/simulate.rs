//! `kerf router simulate` and `kerf router cost`: without an account.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use kerf_notices::routing::{Cost, EventLoad, Faults, RoutingSimulation, SimulationReport};

/// Arguments of `kerf router simulate`.
#[derive(Args)]
pub(crate) struct Simulate {
    /// Clusters in the account and region
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    clusters: u32,
    /// Events on the central queue
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    events: u32,
    /// Messages routed together
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch: u32,
    /// How many of a hundred calls fail, and how many of a hundred messages come twice
    #[arg(long, default_value_t = 0, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(0..=50))]
    faults: u64,
    /// The same seed gives the same report
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Arguments of `kerf router cost`.
#[derive(Args)]
pub(crate) struct CostOf {
    /// Clusters in the account and region
    #[arg(long, default_value_t = 20)]
    clusters: u32,
    /// Events a month that the rules let through
    #[arg(long, default_value_t = 1_000_000)]
    events: u32,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { clusters, events, batch, faults, seed } = self;
        let per_mille = faults * 10;
        let faults = Faults {
            calls_per_mille: per_mille,
            entries_per_mille: per_mille,
            duplicates_per_mille: per_mille,
            garbage_per_mille: per_mille / 5,
        };
        let (clusters, events) = (clusters as usize, events as usize);
        let report =
            RoutingSimulation { clusters, events, batch: batch as usize, faults, seed }.run();
        print(&summary(&report, clusters, events))?;
        let sound = report.lost == 0 && report.misdelivered == 0 && report.repeated == 0;
        Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

impl CostOf {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { clusters, events } = self;
        let load = EventLoad { clusters: clusters.into(), events: events.into() };
        print(&format!(
            "{clusters} clusters, {events} events a month\n\n{}",
            costs(Cost::of(load))
        ))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn summary(report: &SimulationReport, clusters: usize, events: usize) -> String {
    let mut text =
        format!("{events} events for {clusters} clusters, {} faults injected\n\n", report.faults);
    let mut row = |what: &str, number: u64| text.push_str(&format!("  {what:<44}{number:>12}\n"));
    row("deliveries with rules for each cluster", report.fan_out_deliveries);
    row("deliveries by the router", report.deliveries);
    row("lost", report.lost);
    row("delivered to the wrong cluster", report.misdelivered);
    row("delivered twice within ten minutes", report.repeated);
    row("taken from the central queue again", report.redelivered);
    row("calls to EC2", report.lookup_calls);
    row("calls to find queues", report.queue_calls);
    row("calls to send", report.send_calls);
    text.push('\n');
    for (outcome, count) in &report.outcomes {
        text.push_str(&format!("  {outcome:<44}{count:>12}\n"));
    }
    if let Some(cost) = report.cost {
        text.push_str(&format!("\nThis many events a month:\n{}", costs(cost)));
    }
    text
}

fn costs(cost: Cost) -> String {
    let row = |what: &str, micros: String| format!("  {what:<44}{:>12}\n", format!("${micros}"));
    [
        row("rules for each cluster", cost.rules_per_cluster.to_string()),
        row("router, called for each event", cost.router_direct.to_string()),
        row("router behind a central queue", cost.router_central.to_string()),
    ]
    .concat()
}

fn print(text: &str) -> Result<()> {
    std::io::stdout().write_all(text.as_bytes()).context("could not write the report")
}
