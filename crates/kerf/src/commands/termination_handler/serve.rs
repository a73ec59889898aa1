//! The handler as a process: settings in, everything wired.

use std::cell::Cell;
use std::process::ExitCode;

use anyhow::{Context, Result};
use kerf_aws::{Session, TimeOuts};
use kerf_kube::{JournalFiles, Pace, connect, connect_leading};
use kerf_runtime::{Candidate, Leadership, Shutdown, Tasks};
use kerf_termination_handler::settings::LogVersion;
use kerf_termination_handler::{Handler, LEASE, Source};
use kube::Config;
use tracing::{info, warn};

use super::options::Given;
use super::source;
use super::validated::Validated;

pub(super) fn run(given: &Given, validated: Validated) -> Result<ExitCode> {
    validated.log.clone().start()?;
    let version = match validated.events.log_version {
        LogVersion::One => 1,
        LogVersion::Two => 2,
    };
    info!("Using log format version {version}");
    validated.warnings.iter().for_each(|warning| warn!("{warning}"));
    let mut runtime = match validated.source {
        source::Source::Queue(..) => tokio::runtime::Builder::new_multi_thread(),
        // It runs on every node, which has better things to do.
        source::Source::Metadata(_) => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = runtime.worker_threads(2).enable_all().build();
    runtime.context("the threads cannot be started")?.block_on(serve(given, validated))
}

async fn serve(given: &Given, validated: Validated) -> Result<ExitCode> {
    let (source, is_leader) = match validated.source {
        source::Source::Queue(settings, region) => {
            let session = Box::new(session(given, &region).await);
            (Source::Queue(settings, session), !validated.leader_elect)
        }
        // One for each node, each of its own.
        source::Source::Metadata(settings) => (Source::Metadata(settings), true),
    };
    let config = config(given).await?;
    let namespace = given.text("pod-namespace");
    // Leading has a client of its own, so that a flood of calls cannot cost the lead.
    let lease_client = connect(config.clone())?;
    let candidate = Candidate::new(lease_client, namespace, LEASE, identity(given));
    let (mut leadership, leading) = Leadership::new(candidate, is_leader);
    let (per_second, burst) = validated.pace;
    let handler = Handler {
        settings: validated.events,
        source,
        node_name: given.text("node-name").to_owned(),
        drain: validated.drain,
        client: connect_leading(config, leadership.term())?,
        pace: Pace::new(per_second, burst),
        metrics_port: validated.metrics_port,
        probe: validated.probe,
        events: validated.annotations,
        webhook: validated.webhook,
        journal: given
            .some("journal")
            .map(|path| JournalFiles::open(path.as_ref()).context("the journal cannot be written"))
            .transpose()?,
    };
    let mut tasks = Tasks::default();
    let started = handler.start(leadership.term(), &mut tasks).await?;
    info!("aws-node-termination-handler arguments: {}", given.shown());
    let shutdown = Cell::new(Shutdown::AtOnce);
    // Where the lead is lost another may lead already: nothing more is written.
    let stop = async {
        shutdown.set(leadership.until_end(&mut tasks).await);
        shutdown.get()
    };
    if let Err(ended) = started.run(leading, stop).await {
        leadership.broken_by(ended);
    }
    tasks.finish(shutdown.get()).await;
    Ok(leadership.conclude().await)
}

/// How to reach the account.
async fn session(given: &Given, region: &str) -> Session {
    let session = Session::from_env(TimeOuts::default()).await.in_region(region);
    match given.some("aws-endpoint") {
        Some(endpoint) => session.at_endpoint(&endpoint),
        None => session,
    }
}

/// How to reach the API server.
async fn config(given: &Given) -> Result<Config> {
    let mut config = Config::infer()
        .await
        .context("no way to reach an API server was found; outside a cluster set KUBECONFIG")?;
    // The variables of the same names are read by the client itself, inside a cluster.
    if let Some(host) = given.flag("kubernetes-service-host") {
        let port = given.flag("kubernetes-service-port").unwrap_or("443");
        let url = format!("https://{host}:{port}");
        config.cluster_url = url.parse().context("--kubernetes-service-host is no host")?;
    }
    Ok(config)
}

/// The pod's name; elsewhere the host and process.
fn identity(given: &Given) -> String {
    let host = || std::env::var("HOSTNAME").unwrap_or_else(|_| "kerf".to_owned());
    let own = given.some("pod-name").or_else(|| given.some("node-name")).unwrap_or_else(host);
    format!("{own}_{}", std::process::id())
}
