//! `kerf router run`, `status` and `redrive`: against an account.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use kerf_aws::{Session, TimeOuts};
use kerf_notices::routing::{RoutingSettings, Scope};
use kerf_router::{Daemon, DaemonSettings, Executor, ExecutorSettings, Routing, redrive, status};
use kerf_runtime::http::all_addresses;
use kerf_runtime::{Shutdown, Tasks, shutdown};

use crate::commands::log::LogFlags;

/// Arguments of `kerf router run`. How events are routed is read from the environment.
#[derive(Args)]
pub(crate) struct Run {
    /// The URL of the central queue
    #[arg(long, env = "QUEUE_URL")]
    queue_url: String,
    /// The port of /metrics and /healthz
    #[arg(long, default_value_t = 8080)]
    metrics_port: u16,
    /// Receivers that poll side by side
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: u16,
    #[command(flatten)]
    log: LogFlags,
}

/// Arguments of `kerf router status`.
#[derive(Args)]
pub(crate) struct StatusOf {
    /// The URL of the central queue
    #[arg(long, env = "QUEUE_URL")]
    queue_url: String,
    /// The URL of its dead-letter queue
    #[arg(long)]
    dead_letter_url: Option<String>,
}

/// Arguments of `kerf router redrive`.
#[derive(Args)]
pub(crate) struct Redrive {
    /// The URL of the dead-letter queue
    #[arg(long)]
    dead_letter_url: String,
    /// The URL of the central queue
    #[arg(long, env = "QUEUE_URL")]
    queue_url: String,
    /// Messages to move at most
    #[arg(long, default_value_t = 10_000)]
    most: u64,
}

impl Run {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { queue_url, metrics_port, workers, log } = self;
        log.start("router")?;
        block_on(async {
            let get = |name: &str| std::env::var(name).ok();
            let session = Session::from_env(TimeOuts::default()).await;
            let mut settings = RoutingSettings::from_lookup(get)?;
            let region = session.region().unwrap_or_default().to_owned();
            settings.home = Scope::new(account_of(&queue_url), &region);
            let executor = ExecutorSettings::from_lookup(get, settings.home.clone());
            let queues = session.queues();
            let routing = Routing::new(settings, Executor::new(session, executor));
            let listen = all_addresses(metrics_port);
            let settings = DaemonSettings { queue_url, listen, workers: workers.into() };
            let daemon = Daemon::new(settings, queues, routing).await?;
            let mut tasks = Tasks::default();
            tasks.spawn("router", daemon.run(tasks.stopping()));
            tokio::select! {
                () = shutdown::requested() => {}
                ended = tasks.first_ended() => return Err(ended.into()),
            }
            tasks.finish(Shutdown::FinishFirst).await;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// The account in a queue's URL: `https://HOST/ACCOUNT/NAME`. Empty if there is none.
fn account_of(url: &str) -> &str {
    let account = url.rsplit('/').nth(1).unwrap_or_default();
    let is_account = account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit());
    if is_account { account } else { "" }
}

impl StatusOf {
    pub(crate) fn run(self) -> Result<ExitCode> {
        block_on(async {
            let queues = Session::from_env(TimeOuts::default()).await.queues();
            let status_of_queues =
                status(&queues, &self.queue_url, self.dead_letter_url.as_deref()).await;
            println!("{:<32}{:>10}{:>12}  QUEUE", "FOR", "WAITING", "IN FLIGHT");
            for queue in &status_of_queues.queues {
                match &queue.depth {
                    Ok(depth) => println!(
                        "{:<32}{:>10}{:>12}  {}",
                        queue.role, depth.visible, depth.in_flight, queue.url
                    ),
                    Err(error) => println!("{:<32}{error}", queue.role),
                }
            }
            if let Some(error) = &status_of_queues.error {
                eprintln!("kerf: the clusters' queues could not be listed: {error}");
            }
            let whole = status_of_queues.error.is_none()
                && status_of_queues.queues.iter().all(|one| one.depth.is_ok());
            Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        })
    }
}

impl Redrive {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { dead_letter_url, queue_url, most } = self;
        block_on(async {
            let queues = Session::from_env(TimeOuts::default()).await.queues();
            let redriven = redrive(&queues, &dead_letter_url, &queue_url, most).await?;
            println!("{} messages moved, {} stayed", redriven.moved, redriven.stayed);
            Ok(if redriven.stayed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        })
    }
}

fn block_on(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build();
    runtime.context("could not start the runtime")?.block_on(work)
}
