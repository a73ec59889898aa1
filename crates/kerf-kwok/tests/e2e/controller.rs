//! The controller under test: the real one, in this process, with the rights of its role.

use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

use kerf_engine::Settings;
use kerf_engine::time::Span;
use kerf_kube::{Controller, Health, Metrics, Pace, Scrape, Shows, connect, no_notices};
use kerf_kwok::Kwok;
use kerf_runtime::clock::Clock;
use kerf_runtime::metrics::Registry;
use kerf_runtime::{Candidate, LeaseTerm};
use kerf_testbed::ControlPlane;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};

use crate::journal::Journal;

/// The user that `deploy/rbac.yaml` speaks of.
pub(crate) const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
const NAMESPACE: &str = "karpenter";
const LEASE: &str = "karpenter-leader-election";
const CALLS_PER_SECOND: NonZeroU32 = NonZeroU32::new(200).unwrap();
const CALLS_AT_ONCE: NonZeroU32 = NonZeroU32::new(300).unwrap();

/// A quarter of an hour in public. Simulated instances join within a second or two.
const REGISTRATION_WITHIN: Span = Span::from_seconds(30);

static RUNNING: OnceLock<Running> = OnceLock::new();

/// A controller that runs as long as the tests do.
pub(crate) struct Running {
    runtime: Runtime,
    scrapes: mpsc::Sender<Scrape>,
    pub(crate) health: Health,
    pub(crate) journal: Journal,
}

impl Running {
    /// The controller, started by whoever asks first.
    pub(crate) fn get(control_plane: &'static ControlPlane) -> &'static Self {
        RUNNING.get_or_init(|| Self::start(control_plane))
    }

    fn start(control_plane: &'static ControlPlane) -> Self {
        log();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (scrape_sender, scrapes) = mpsc::channel(1);
        let health = Health::default();
        let shared_health = health.clone();
        let folder = control_plane.kubeconfig().parent().unwrap();
        let journal = Journal::new(folder);
        let journal_files = Some(journal.files());
        runtime.spawn(async move {
            let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig_of(ACCOUNT).unwrap());
            let options = KubeConfigOptions::default();
            let config = Config::from_custom_kubeconfig(kubeconfig.unwrap(), &options).await;
            let client = connect(config.unwrap()).unwrap();
            let controller = Controller {
                client: client.clone(),
                provider: Arc::new(Kwok::new(client.clone(), kerf_catalog::kwok())),
                shifted_zones: None,
                settings: Settings {
                    registration_within: REGISTRATION_WITHIN,
                    node_overlays: true,
                    static_capacity: true,
                    ..Settings::default()
                },
                default_spreads: Vec::new(),
                pace: Pace::new(CALLS_PER_SECOND, CALLS_AT_ONCE),
                health: shared_health,
                metrics: Metrics::new(Registry::default(), Shows::Everything),
                scrapes,
                notices: no_notices(),
                journal: journal_files,
                zonal_shifts: None,
                legacy: None,
                clock: Clock::default(),
                lease: LeaseTerm::unlimited(),
            };
            let (lead, leading) = watch::channel(false);
            let mut candidate = Candidate::new(client, NAMESPACE, LEASE, "e2e".to_owned());
            tokio::spawn(async move {
                candidate.acquire().await;
                let _ = lead.send(true);
                let lost = candidate.hold().await;
                panic!("the tests have no other candidate: {lost}");
            });
            controller.run(leading, std::future::pending()).await.unwrap();
        });
        Self { runtime, scrapes: scrape_sender, health, journal }
    }

    /// The metrics of this moment.
    pub(crate) fn metrics(&self) -> String {
        let (scrape, answer) = Scrape::new();
        self.runtime.block_on(async {
            self.scrapes.send(scrape).await.unwrap();
            answer.await.unwrap()
        })
    }
}

/// What the controller does is printed with the test that fails, if `KERF_LOG` is set.
fn log() {
    if std::env::var_os("KERF_LOG").is_some() {
        let _ = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).try_init();
    }
}
