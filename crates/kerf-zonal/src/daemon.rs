//! The daemon: waits for the lead, then takes turns.

use std::net::SocketAddr;
use std::sync::Arc;

use kerf_aws::Queues;
use kerf_kube::Pace;
use kerf_notices::zonal_shift::{AutoModeRevert, Matching};
use kube::Client;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::account::Account;
use crate::clock::Clock;
use crate::complaints::Complaints;
use crate::desk::{Desk, Tools};
use crate::metrics::Metrics;
use crate::poller::Silence;
use crate::web::{self, Pages};

/// What the daemon needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `CLUSTER_NAME`.
    pub cluster_name: String,
    /// `AWS_REGION`.
    pub region: String,
    /// `SQS_QUEUE_URL`.
    pub queue_url: String,
    /// `POD_NAMESPACE`: where the state is stored.
    pub namespace: String,
    /// `--zonal-shift-match` and `--zonal-shift-resources`.
    pub matching: Matching,
    /// `--zonal-shift-max-age`.
    pub max_age_seconds: Option<i64>,
    /// `--enable-do-not-disrupt`.
    pub do_not_disrupt: bool,
    /// `--taint-away-nodes`.
    pub taint_away_nodes: bool,
    /// `--auto-mode-revert`.
    pub auto_mode_revert: AutoModeRevert,
    /// Where `/metrics` and `/healthz` listen; port 0 takes a free one.
    pub listen: SocketAddr,
}

/// Why the daemon could not start.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// The port is taken, or not allowed. Choose another.
    #[error("could not listen on {listen}: {source}; choose another port")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A daemon that serves its pages and is ready to run.
pub struct Daemon {
    tools: Tools,
    address: SocketAddr,
    web: JoinHandle<()>,
}

impl Daemon {
    /// Opens the port and serves the pages; nothing is received yet.
    pub async fn new(
        settings: Settings,
        client: Client,
        account: Account,
        queues: Queues,
        pace: Pace,
        clock: Clock,
    ) -> Result<Self, DaemonError> {
        let listen = settings.listen;
        let failed = |source| DaemonError::Listen { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let complaints = Complaints::default();
        let metrics = Arc::new(Metrics::new(&complaints));
        let silence = Arc::new(Silence::new());
        let pages = Pages {
            metrics: Arc::clone(&metrics),
            complaints: complaints.clone(),
            silence: Arc::clone(&silence),
        };
        let web = tokio::spawn(web::serve(listener, pages));
        let tools =
            Tools { settings, client, account, queues, pace, clock, complaints, metrics, silence };
        Ok(Self { tools, address, web })
    }

    /// Where `/metrics` and `/healthz` are.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs until `stop` turns true. Receives and writes nothing before `leading` does.
    pub async fn run(self, mut leading: watch::Receiver<bool>, mut stop: watch::Receiver<bool>) {
        let _web = EndsWithIt(self.web);
        let is_stopped = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => true,
            lead = leading.wait_for(|leading| *leading) => lead.is_err(),
        };
        if !is_stopped {
            self.tools.metrics.leads();
            Desk::new(self.tools).run(stop).await;
        }
    }
}

/// A task that ends with whoever holds this, however that ends.
pub(crate) struct EndsWithIt(pub(crate) JoinHandle<()>);

impl Drop for EndsWithIt {
    fn drop(&mut self) {
        self.0.abort();
    }
}
