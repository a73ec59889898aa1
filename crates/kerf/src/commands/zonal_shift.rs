//! `kerf zonal-shift`: which zones are avoided now, and your word about it. Needs a cluster and no
//! AWS account.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use kerf_kube::connect;
use kerf_notices::zonal_shift::{ManualShift, UnixSeconds};
use kerf_runtime::clock;
use kerf_zonal::{Console, LEASE};
use kube::Config;
use serde_json::{Value, json};

use super::terminal;

/// Arguments of `kerf zonal-shift`.
#[derive(Args)]
pub(crate) struct ZonalShift {
    #[command(subcommand)]
    command: Command,
}

/// What can be asked.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show which zones are avoided, on whose behalf, and which pools that changed
    Status(Place),
    /// Avoid a zone until you end it
    Start(Zone),
    /// End every shift of a zone, whoever asked for it
    End(Zone),
}

/// Where to look and how to print.
#[derive(Args)]
pub(crate) struct Place {
    /// The namespace that `kerf zonal-autoshift` runs in
    #[arg(short, long, env = "POD_NAMESPACE", default_value = "default")]
    namespace: String,
    /// How to print
    #[arg(short, long, value_enum, default_value = "table")]
    output: Format,
}

/// A zone.
#[derive(Args)]
pub(crate) struct Zone {
    /// Its name or id: us-west-2a, usw2-az1
    zone: String,
    #[command(flatten)]
    place: Place,
}

/// How to print.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For scripts
    Json,
    /// For scripts and people
    Yaml,
}

impl ZonalShift {
    pub(crate) fn run(self) -> Result<ExitCode> {
        self.command.run()
    }
}

impl Command {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.context("could not start the runtime")?.block_on(async {
            match self {
                Self::Status(place) => status(&place).await,
                Self::Start(zone) => apply(ManualShift::Start, &zone).await,
                Self::End(zone) => apply(ManualShift::End, &zone).await,
            }
        })
    }
}

async fn status(place: &Place) -> Result<ExitCode> {
    let console = open(place).await?;
    let status = console.status(now()).await?;
    match place.output {
        Format::Table => terminal::print(&status.text().to_string())?,
        Format::Json | Format::Yaml => print(&json!(status), place.output)?,
    }
    if !status.away_zones.is_empty() {
        warn_if_nobody_acts(&console, place).await;
    }
    Ok(ExitCode::SUCCESS)
}

async fn apply(asked: ManualShift, zone: &Zone) -> Result<ExitCode> {
    let Zone { zone, place } = zone;
    let mut console = open(place).await?;
    let outcome = console.apply(asked, zone, now()).await?;
    match place.output {
        Format::Table => terminal::print(&format!("{}\n", outcome.answer))?,
        Format::Json | Format::Yaml => {
            print(&json!({"zoneId": outcome.zone, "answer": outcome.answer}), place.output)?;
        }
    }
    warn_if_nobody_acts(&console, place).await;
    Ok(ExitCode::SUCCESS)
}

fn now() -> UnixSeconds {
    UnixSeconds::at(clock::now().as_second())
}

async fn open(place: &Place) -> Result<Console> {
    let config = Config::infer().await.context(
        "no way to reach an API server was found; set KUBECONFIG, or run \
         `aws eks update-kubeconfig --name CLUSTER`",
    )?;
    Ok(Console::open(connect(config)?, &place.namespace).await?)
}

async fn warn_if_nobody_acts(console: &Console, Place { namespace, .. }: &Place) {
    if console.leader().await.is_none() {
        eprintln!(
            "kerf: this is only noted: no `kerf zonal-autoshift` leads in namespace {namespace}, so \
             pools stay as they are; look with `kubectl --namespace {namespace} get lease {LEASE}`"
        );
    }
}

fn print(value: &Value, format: Format) -> Result<()> {
    match format {
        Format::Yaml => terminal::print(&serde_saphyr::to_string(value)?),
        Format::Table | Format::Json => terminal::print(&format!("{value:#}\n")),
    }
}
