//! The daemon: settings in, one process wired.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use kerf_aws::{Session, TimeOuts};
use kerf_kube::{Pace, connect, connect_leading};
use kerf_runtime::clock::Clock;
use kerf_runtime::http::all_addresses;
use kerf_runtime::{Candidate, Leadership, Shutdown, Tasks};
use kerf_zonal::{Account, Daemon, LEASE};
use kube::Config;

use super::flags::{AutoshiftFlags, Home};
use crate::commands::journal::JournalFlag;
use crate::commands::log::LogFlags;

/// Settings of the daemon.
#[derive(Args)]
pub(super) struct Flags {
    /// The EKS cluster's name
    #[arg(long, env = "CLUSTER_NAME", default_value = "", hide_default_value = true)]
    cluster_name: String,
    /// The namespace of the state and the Lease
    #[arg(long, env = "POD_NAMESPACE", default_value = "default")]
    namespace: String,
    /// What this process calls itself in the Lease
    #[arg(long, env = "POD_NAME")]
    pod_name: Option<String>,
    #[command(flatten)]
    autoshift: AutoshiftFlags,
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
    journal: JournalFlag,
    #[command(flatten)]
    log: LogFlags,
}

impl Flags {
    pub(super) fn run(self) -> Result<ExitCode> {
        self.log.start("controller")?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build();
        runtime.context("the threads cannot be started")?.block_on(self.serve())
    }

    async fn serve(self) -> Result<ExitCode> {
        let session = Session::from_env(TimeOuts::default()).await;
        let home = Home {
            cluster_name: &self.cluster_name,
            namespace: &self.namespace,
            region: session.region(),
        };
        let settings = self.autoshift.settings(home)?;
        let config = Config::infer()
            .await
            .context("no way to reach an API server was found; outside a cluster set KUBECONFIG")?;
        // Leading has a client of its own, so that a flood of calls cannot cost the lead.
        let lease_client = connect(config.clone())?;
        let candidate = Candidate::new(lease_client, &self.namespace, LEASE, self.identity());
        let (mut leadership, leading) = Leadership::new(candidate, self.disable_leader_election);
        let daemon = Daemon {
            settings,
            client: connect_leading(config, leadership.term())?,
            account: Account::new(&session),
            queues: session.queues(),
            queue_url: self.autoshift.needed_queue_url(&self.cluster_name)?,
            pace: Pace::new(self.kube_client_qps, self.kube_client_burst),
            listen: all_addresses(self.metrics_port),
            journal: self.journal.open()?,
            clock: Clock::default(),
        };
        let mut tasks = Tasks::default();
        let daemon = daemon.start(leading.clone(), leadership.term(), &mut tasks).await?;
        let shutdown = Cell::new(Shutdown::AtOnce);
        // Where the lead is lost another may lead already: nothing more is written.
        let stop = async {
            shutdown.set(leadership.until_end(&mut tasks).await);
            shutdown.get()
        };
        if let Err(ended) = daemon.run(leading, stop).await {
            leadership.broken_by(ended);
        }
        tasks.finish(shutdown.get()).await;
        Ok(leadership.conclude().await)
    }

    /// The pod's name, as the reference deployment has it; elsewhere the host and process.
    fn identity(&self) -> String {
        let pod = self.pod_name.clone().filter(|name| !name.is_empty());
        let host = || std::env::var("HOSTNAME").unwrap_or_else(|_| "kerf".to_owned());
        pod.unwrap_or_else(|| format!("{}_{}", host(), std::process::id()))
    }
}
