//! `kerf adopt --check`: what would change if Kerf took over from the Karpenter that runs, and back.
//!
//! Everything the controller watches is listed once and given to the engine, and what the engine
//! would order is looked at and thrown away ([`orders`]): the verdict on a node is that of the
//! controller itself. Nothing is changed.

mod controller;
mod orders;
mod report;
mod snapshot;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{ArgAction, Args};
use kerf_engine::time::Time;
use kerf_kube::connect;
use kerf_runtime::clock;
use kube::Config;

use super::doctor::{self, Format};
use super::exit::Exit;
use super::install::server;
use super::terminal;
use report::Report;

/// Arguments of `kerf adopt`.
#[derive(Args)]
pub(crate) struct Adopt {
    /// Say what would change, node by node; taking over itself is an upgrade of the release
    #[arg(long, required = true, action = ArgAction::SetTrue)]
    check: bool,
    /// The namespace of the controller, where none is found by itself
    #[arg(short, long, default_value = "karpenter")]
    namespace: String,
    /// How to print
    #[arg(short, long, value_enum, default_value = "text")]
    output: Format,
}

impl Adopt {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("could not start the runtime")?;
        let report = runtime.block_on(self.look())?;
        match self.output {
            Format::Text => terminal::print(&report.text())?,
            Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(&report)?))?,
        }
        Ok(Exit::success_if(report.changes_nothing()).into())
    }

    async fn look(&self) -> Result<Report> {
        let config = Config::infer().await.context("no way to reach an API server was found")?;
        let server = server(&config);
        let client = connect(config)?;
        let facts = doctor::look(&client, &self.namespace).await;
        if let Err(why) = &facts.version {
            bail!("the API server at {server} does not answer: {why}");
        }
        let snapshot = snapshot::take(&client).await?;
        let now = Time::from_millis(clock::now().as_millisecond());
        let nodes = orders::judge(&snapshot, now)?;
        Ok(Report::new(&facts, nodes))
    }
}
