//! NodePool mode: waits for the lead, then drives its engine. Alone as a daemon with pages of its
//! own, or embedded in a process that has some.

mod account;
mod complaints;
mod event_recorder;
mod executor;
mod inbox;
mod metrics;
mod poller;
mod reconcile_loop;
mod reports;
mod watches;
mod web;

use std::net::SocketAddr;
use std::sync::Arc;

use kerf_engine::Role;
use kerf_engine::zonal_shift::ShiftSettings;
use kerf_kube::Pace;
use kerf_notices::zonal_shift::{AutoModeRevert, Matching};
use kube::Client;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clock::Clock;
pub use account::Account;
pub(crate) use account::items;
use complaints::Complaints;
pub use inbox::Inbox;
use metrics::Metrics;
use poller::Silence;
use reconcile_loop::{ReconcileLoop, Tools};
use web::Pages;

/// What has to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `CLUSTER_NAME`.
    pub cluster_name: String,
    /// `AWS_REGION`.
    pub region: String,
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
}

impl Settings {
    fn engine(&self) -> kerf_engine::Settings {
        let zonal_shift = ShiftSettings {
            cluster_name: self.cluster_name.clone(),
            region: self.region.clone(),
            matching: self.matching.clone(),
            max_age_seconds: self.max_age_seconds,
            do_not_disrupt: self.do_not_disrupt,
            taint_away_nodes: self.taint_away_nodes,
            auto_mode_revert: self.auto_mode_revert,
        };
        kerf_engine::Settings {
            role: Role::ZonalAutoshift,
            zonal_shift: Some(zonal_shift),
            ..kerf_engine::Settings::default()
        }
    }
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

/// NodePool mode, ready to run. Copies share their metrics; only one may run at a time.
#[derive(Clone)]
pub struct Autoshift {
    tools: Tools,
}

/// The same as a daemon that serves its pages.
pub struct Daemon {
    autoshift: Autoshift,
    address: SocketAddr,
    web: JoinHandle<()>,
}

impl Autoshift {
    /// Nothing is received or written yet.
    pub fn new(
        settings: Settings,
        client: Client,
        account: Account,
        inbox: Inbox,
        pace: Pace,
        clock: Clock,
    ) -> Self {
        let complaints = Complaints::default();
        let metrics = Arc::new(Metrics::new(&complaints));
        let silence = Arc::new(Silence::new());
        let tools =
            Tools { settings, client, account, inbox, pace, clock, complaints, metrics, silence };
        Self { tools }
    }

    /// Writes the metrics of the moment, to be put at the end of another page.
    pub fn metrics(&self) -> impl Fn() -> String + Send + Sync + 'static {
        let (metrics, complaints) =
            (Arc::clone(&self.tools.metrics), self.tools.complaints.clone());
        move || metrics.page(&complaints).replace("# EOF\n", "")
    }

    /// Runs until `stop` turns true. Receives and writes nothing before `leading` does.
    pub async fn run(self, mut leading: watch::Receiver<bool>, mut stop: watch::Receiver<bool>) {
        let is_stopped = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => true,
            lead = leading.wait_for(|leading| *leading) => lead.is_err(),
        };
        if !is_stopped {
            let _leading = self.tools.metrics.leads();
            let (reconcile_loop, updates) = ReconcileLoop::new(self.tools);
            reconcile_loop.run(updates, stop).await;
        }
    }
}

impl Daemon {
    /// Serves `/metrics` and `/healthz` at this address; port 0 takes a free one.
    pub async fn new(autoshift: Autoshift, listen: SocketAddr) -> Result<Self, DaemonError> {
        let failed = |source| DaemonError::Listen { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let Tools { metrics, complaints, silence, .. } = &autoshift.tools;
        let pages = Pages {
            metrics: Arc::clone(metrics),
            complaints: complaints.clone(),
            silence: Arc::clone(silence),
        };
        let web = tokio::spawn(web::serve(listener, pages));
        Ok(Self { autoshift, address, web })
    }

    /// Where `/metrics` and `/healthz` are.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs until `stop` turns true. Receives and writes nothing before `leading` does.
    pub async fn run(self, leading: watch::Receiver<bool>, stop: watch::Receiver<bool>) {
        let _web = EndsWithIt(self.web);
        self.autoshift.run(leading, stop).await;
    }
}

/// A task that ends with whoever holds this, however that ends.
pub(crate) struct EndsWithIt(pub(crate) JoinHandle<()>);

impl Drop for EndsWithIt {
    fn drop(&mut self) {
        self.0.abort();
    }
}
