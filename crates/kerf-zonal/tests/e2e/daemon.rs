//! The daemon under test: the real one, in this process, with the rights of its role.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use kerf_kube::{Pace, connect};
use kerf_notices::zonal_shift::{AutoModeRevert, Matching};
use kerf_zonal::{Account, Autoshift, Daemon, Inbox, Settings};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::place::{ACCOUNT, Place, REGION};

const PER_SECOND: NonZeroU32 = NonZeroU32::new(100).unwrap();
const AT_ONCE: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// A running daemon. It is killed when dropped.
pub(crate) struct Running {
    address: SocketAddr,
    lead: watch::Sender<bool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// The settings most tests use.
pub(crate) fn settings() -> Settings {
    Settings {
        cluster_name: "prod".to_owned(),
        region: REGION.to_owned(),
        namespace: "default".to_owned(),
        matching: Matching::Any,
        max_age_seconds: None,
        do_not_disrupt: false,
        taint_away_nodes: true,
        auto_mode_revert: AutoModeRevert::Delete,
    }
}

impl Running {
    /// A leader with the rights of its manifest.
    pub(crate) async fn start(place: &Place) -> Self {
        Self::start_as(place, ACCOUNT, settings()).await.leading()
    }

    pub(crate) async fn start_with(place: &Place, settings: Settings) -> Self {
        Self::start_as(place, ACCOUNT, settings).await.leading()
    }

    /// One that waits for the lead.
    pub(crate) async fn start_as(place: &Place, user: &str, settings: Settings) -> Self {
        log();
        let kubeconfig = Kubeconfig::read_from(place.control_plane.kubeconfig_of(user).unwrap());
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig.unwrap(), &options).await.unwrap();
        let answering = place.answering_session().await;
        let account = Account {
            network: place.session.network(),
            clusters: answering.clusters(),
            zonal_shifts: answering.zonal_shifts(),
        };
        let client = connect(config).unwrap();
        let inbox = Inbox::Queue { queues: place.queues.clone(), url: place.queue_url.clone() };
        let pace = Pace::new(PER_SECOND, AT_ONCE);
        let autoshift = Autoshift::new(settings, client, account, inbox, pace, place.clock());
        let listen = "127.0.0.1:0".parse().unwrap();
        let daemon = Daemon::new(autoshift, listen).await.unwrap();
        let address = daemon.address();
        let (lead, leading) = watch::channel(false);
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(daemon.run(leading, stopped));
        Self { address, lead, stop, task }
    }

    pub(crate) fn leading(self) -> Self {
        self.lead.send_replace(true);
        self
    }

    /// Ends it in the middle of whatever it does.
    pub(crate) async fn kill(mut self) {
        self.task.abort();
        assert!((&mut self.task).await.unwrap_err().is_cancelled());
    }

    /// Asks it to end, and waits.
    pub(crate) async fn end(mut self) {
        self.stop.send_replace(true);
        (&mut self.task).await.unwrap();
    }

    /// What it answers to a path.
    pub(crate) async fn get(&self, path: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Whether the page of metrics has that line.
    pub(crate) async fn counts(&self, line: &str) -> bool {
        self.get("/metrics").await.lines().any(|one| one == line)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the daemon does is printed with the test that fails, if `KERF_LOG` is set.
fn log() {
    if std::env::var_os("KERF_LOG").is_some() {
        let _ = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).try_init();
    }
}
