//! The daemon under test: the real one, in this process, with the rights of its role.

use std::net::SocketAddr;
use std::num::NonZeroU32;

use kerf_engine::zonal_shift::ShiftSettings;
use kerf_journal::Replay;
use kerf_kube::{JournalFiles, Pace, connect};
use kerf_notices::zonal_shift::{AutoModeRevert, Matching};
use kerf_runtime::{LeaseTerm, Shutdown, Tasks};
use kerf_zonal::{Account, Daemon};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::place::{ACCOUNT, Place, REGION};

const JOURNAL: &str = "journal.jsonl";
const PER_SECOND: NonZeroU32 = NonZeroU32::new(100).unwrap();
const AT_ONCE: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// A running daemon. It is killed when dropped.
pub(crate) struct Running {
    address: SocketAddr,
    lead: watch::Sender<bool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    journal: TempDir,
}

/// The settings most tests use.
pub(crate) fn settings() -> ShiftSettings {
    ShiftSettings {
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

    pub(crate) async fn start_with(place: &Place, settings: ShiftSettings) -> Self {
        Self::start_as(place, ACCOUNT, settings).await.leading()
    }

    /// One that waits for the lead.
    pub(crate) async fn start_as(place: &Place, user: &str, settings: ShiftSettings) -> Self {
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
        let journal = tempfile::tempdir().unwrap();
        let daemon = Daemon {
            settings,
            client: connect(config).unwrap(),
            account,
            queues: place.queues.clone(),
            queue_url: place.queue_url.clone(),
            pace: Pace::new(PER_SECOND, AT_ONCE),
            listen: "127.0.0.1:0".parse().unwrap(),
            journal: Some(JournalFiles::open(&journal.path().join(JOURNAL)).unwrap()),
            clock: place.clock(),
        };
        let (lead, leading) = watch::channel(false);
        let (stop, mut stopped) = watch::channel(false);
        let mut tasks = Tasks::default();
        let daemon =
            daemon.start(leading.clone(), LeaseTerm::unlimited(), &mut tasks).await.unwrap();
        let address = daemon.address();
        let task = tokio::spawn(async move {
            let ending = async {
                tokio::select! {
                    _ = stopped.wait_for(|stop| *stop) => Shutdown::FinishFirst,
                    ended = tasks.first_ended() => panic!("{ended}"),
                }
            };
            daemon.run(leading, ending).await.unwrap();
            tasks.finish(Shutdown::FinishFirst).await;
        });
        Self { address, lead, stop, task, journal }
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

    /// Asks it to end, and waits. Its engine decides the same again when its journal is replayed.
    pub(crate) async fn end(mut self) {
        self.stop.send_replace(true);
        (&mut self.task).await.unwrap();
        let journal = std::fs::read_to_string(self.journal.path().join(JOURNAL)).unwrap();
        let report = Replay::of(&journal).unwrap();
        assert_eq!(report.difference, None, "its journal does not replay");
        assert!(report.actions > 0 && report.skipped == 0, "{report:?}");
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
