//! The daemon: settings in, one process wired.

use std::cell::Cell;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{ArgAction, Args, ValueEnum};
use kerf_aws::{Session, TimeOuts};
use kerf_kube::{Candidate, Lost, Pace, connect};
use kerf_model::duration::GoDuration;
use kerf_notices::zonal_shift::{AutoModeRevert, Matching};
use kerf_zonal::{Account, Daemon, LEASE, Settings, system_clock};
use kube::Config;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, info};

use crate::commands::controller::{LogFlags, log};

/// Settings of the daemon.
#[derive(Args)]
pub(super) struct Flags {
    /// The EKS cluster's name
    #[arg(long, env = "CLUSTER_NAME")]
    cluster_name: Option<String>,
    /// The URL of the queue that announcements come from; no other cluster may read it
    #[arg(long, env = "SQS_QUEUE_URL")]
    queue_url: Option<String>,
    /// The namespace of the state and the Lease
    #[arg(long, env = "POD_NAMESPACE", default_value = "default")]
    namespace: String,
    /// What this process calls itself in the Lease
    #[arg(long, env = "POD_NAME")]
    pod_name: Option<String>,
    /// Let what runs in the zone run on: protect its nodes instead of replacing them
    #[arg(short = 'd', long)]
    enable_do_not_disrupt: bool,
    /// Which shifts count: any in the account and region, or those that name the cluster
    #[arg(long, env = "ZONAL_SHIFT_MATCH", value_enum, default_value = "any")]
    zonal_shift_match: Match,
    /// With --zonal-shift-match=cluster: other resources whose shifts count
    #[arg(long, env = "ZONAL_SHIFT_RESOURCES", value_delimiter = ',')]
    zonal_shift_resources: Vec<String>,
    /// End shifts at this age where ARC cannot be asked, instead of at the age of their kind
    #[arg(long, env = "ZONAL_SHIFT_MAX_AGE", value_parser = age)]
    zonal_shift_max_age: Option<i64>,
    /// Empty nodes of EKS Auto Mode's own pools in the zone by a taint
    #[arg(long, env = "TAINT_AWAY_NODES", default_value_t = true, action = ArgAction::Set,
        num_args = 0..=1, default_missing_value = "true")]
    taint_away_nodes: bool,
    /// What becomes of stand-ins for EKS Auto Mode's own pools afterwards
    #[arg(long, env = "AUTO_MODE_REVERT", value_enum, default_value = "delete")]
    auto_mode_revert: Revert,
    /// Calls to the API server a second, in the long run
    #[arg(long, env = "KUBE_CLIENT_QPS", default_value = "100")]
    kube_client_qps: NonZeroU32,
    /// Calls to the API server at once after a pause
    #[arg(long, env = "KUBE_CLIENT_BURST", default_value = "200")]
    kube_client_burst: NonZeroU32,
    /// The port of /metrics and /healthz
    #[arg(long, env = "METRICS_PORT", default_value = "8080")]
    metrics_port: u16,
    /// Act without holding the Lease
    #[arg(long, env = "DISABLE_LEADER_ELECTION")]
    disable_leader_election: bool,
    #[command(flatten)]
    log: LogFlags,
}

/// Which shifts count.
#[derive(Clone, Copy, ValueEnum)]
enum Match {
    /// Every shift in the account and region
    Any,
    /// Those that name the cluster
    Cluster,
}

/// What becomes of stand-ins.
#[derive(Clone, Copy, ValueEnum)]
enum Revert {
    /// They are deleted and their nodes drained
    Delete,
    /// They take no more nodes and are deleted when empty
    Retire,
}

fn age(text: &str) -> Result<i64, String> {
    let age = GoDuration::parse(text).map_err(|error| error.to_string())?;
    let seconds = age.nanos() / 1_000_000_000;
    if seconds <= 0 {
        return Err("allowed are durations of a second or more, such as 90m or 4h".to_owned());
    }
    Ok(seconds)
}

impl Flags {
    pub(super) fn run(self) -> Result<ExitCode> {
        log::start(&self.log)?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build();
        runtime.context("the threads cannot be started")?.block_on(self.serve())
    }

    async fn serve(self) -> Result<ExitCode> {
        let session = Session::from_env(TimeOuts::default()).await;
        let settings = self.settings(session.region())?;
        let config = Config::infer()
            .await
            .context("no way to reach an API server was found; outside a cluster set KUBECONFIG")?;
        // Leading has a client of its own, so that a flood of calls cannot cost the lead.
        let lease_client = connect(config.clone())?;
        let client = connect(config)?;
        let pace = Pace::new(self.kube_client_qps, self.kube_client_burst);
        let (account, queues) = (Account::new(&session), session.queues());
        let clock = system_clock();
        let daemon = Daemon::new(settings, client, account, queues, pace, clock).await?;
        let (lead, leading) = watch::channel(self.disable_leader_election);
        let (stop, stopped) = watch::channel(false);
        let mut candidate = Candidate::new(lease_client, &self.namespace, LEASE, self.identity());
        let lost: Cell<Option<Lost>> = Cell::new(None);
        let leadership = async {
            if self.disable_leader_election {
                return std::future::pending().await;
            }
            candidate.acquire().await;
            lead.send_replace(true);
            lost.set(Some(candidate.hold().await));
        };
        let ending = async {
            tokio::select! {
                () = asked_to_end() => { stop.send_replace(true); std::future::pending().await }
                // Another may lead already: nothing more is written.
                () = leadership => {}
            }
        };
        tokio::select! {
            () = daemon.run(leading, stopped) => {}
            () = ending => {}
        }
        if let Some(lost) = lost.into_inner() {
            error!(%lost, "leader election lost");
            return Ok(ExitCode::FAILURE);
        }
        candidate.release().await;
        info!("ended");
        Ok(ExitCode::SUCCESS)
    }

    fn settings(&self, region: Option<&str>) -> Result<Settings> {
        let set = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let Some(cluster_name) = set(&self.cluster_name) else {
            bail!("the cluster has no name: set CLUSTER_NAME, or pass --cluster-name");
        };
        let Some(queue_url) = set(&self.queue_url) else {
            bail!(
                "there is no queue to read: set SQS_QUEUE_URL, or pass --queue-url; \
                 `aws sqs get-queue-url --queue-name {cluster_name}-zonal-shift` prints it"
            );
        };
        let Some(region) = region.filter(|region| !region.is_empty()) else {
            bail!("the region is not known: set AWS_REGION");
        };
        let also = self.zonal_shift_resources.iter().filter(|one| !one.is_empty()).cloned();
        Ok(Settings {
            cluster_name,
            region: region.to_owned(),
            queue_url,
            namespace: self.namespace.clone(),
            matching: match self.zonal_shift_match {
                Match::Any => Matching::Any,
                Match::Cluster => Matching::Cluster { also: also.collect() },
            },
            max_age_seconds: self.zonal_shift_max_age,
            do_not_disrupt: self.enable_do_not_disrupt,
            taint_away_nodes: self.taint_away_nodes,
            auto_mode_revert: match self.auto_mode_revert {
                Revert::Delete => AutoModeRevert::Delete,
                Revert::Retire => AutoModeRevert::Retire,
            },
            listen: SocketAddr::from(([0, 0, 0, 0], self.metrics_port)),
        })
    }

    /// The pod's name, as the reference deployment has it; elsewhere the host and process.
    fn identity(&self) -> String {
        let pod = self.pod_name.clone().filter(|name| !name.is_empty());
        let host = || std::env::var("HOSTNAME").unwrap_or_else(|_| "kerf".to_owned());
        pod.unwrap_or_else(|| format!("{}_{}", host(), std::process::id()))
    }
}

/// Waits for the signals that ask a process to end.
async fn asked_to_end() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => info!("asked to end"),
        _ = tokio::signal::ctrl_c() => info!("interrupted"),
    }
}
