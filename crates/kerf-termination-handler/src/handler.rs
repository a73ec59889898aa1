//! The role `TerminationHandler` as a process: the common controller, where events come from, and
//! two ports.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_aws::Session;
use kerf_engine::{DrainSettings, Role, Settings};
use kerf_kube::{
    Controller, Health, JournalFiles, Metrics, NoProvider, NoticeDelivery, Pace, Shows,
};
use kerf_runtime::clock::Clock;
use kerf_runtime::http::{BindError, Pages, all_addresses};
use kerf_runtime::metrics::Registry;
use kerf_runtime::{LeaseTerm, Shutdown, TaskEnded, Tasks};
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tracing::info;

use crate::context::EventContext;
use crate::kubernetes_events::{KubernetesEvents, RecorderSettings};
use crate::metadata::{MetadataMode, NodeMetadata};
use crate::metrics::Counters;
use crate::provisioner::Provisioner;
use crate::queue::QueueMode;
use crate::settings::{EventSettings, MetadataSettings, QueueSettings};
use crate::store::Store;
use crate::webhook::Webhook;

/// How long events that are under way may take when the process is asked to end. What is not through
/// by then comes again, to the next.
const FINISH_WITHIN: Duration = Duration::from_secs(25);

/// Notices on their way to the engine; each waits for a decision at most.
const NOTICES_WAITING_MAX: usize = 100;

/// What the handler needs.
pub struct Handler {
    /// How it acts on events.
    pub settings: EventSettings,
    /// Where events come from.
    pub source: Source,
    /// The node it runs on.
    pub node_name: String,
    /// How nodes are drained.
    pub drain: DrainSettings,
    /// How to reach the API server.
    pub client: Client,
    /// How fast to call the API server.
    pub pace: Pace,
    /// The port of `/metrics`, if it is served.
    pub metrics_port: Option<u16>,
    /// The port and path of the probe, if it is served.
    pub probe: Option<(u16, String)>,
    /// Annotations of the Kubernetes Events that are recorded, if they are.
    pub events: Option<BTreeMap<String, String>>,
    /// Who else is told of what happens, if anybody is.
    pub webhook: Option<Webhook>,
    /// Where the engine's events and actions are kept for a replay, if anywhere.
    pub journal: Option<JournalFiles>,
}

/// Where events come from.
pub enum Source {
    /// A queue of an account.
    Queue(Box<QueueSettings>, Box<Session>),
    /// The metadata service of the instance that the handler runs on.
    Metadata(Box<MetadataSettings>),
}

/// A handler whose ports are open.
pub struct StartedHandler {
    controller: Controller<NoProvider>,
    mode: Mode,
}

enum Mode {
    Queue(Box<QueueMode>, Box<Session>),
    Metadata(Box<MetadataMode>),
}

impl Mode {
    async fn run(self, leading: watch::Receiver<bool>, stop: watch::Receiver<bool>) {
        match self {
            Self::Queue(mode, session) => mode.run(session.queues(), leading, stop).await,
            Self::Metadata(mode) => mode.run(stop).await,
        }
    }
}

impl Handler {
    /// Opens the ports.
    ///
    /// # Errors
    /// A port is taken or may not be used.
    pub async fn start(
        self,
        lease: LeaseTerm,
        tasks: &mut Tasks,
    ) -> Result<StartedHandler, BindError> {
        let (health, registry) = (Health::default(), Registry::default());
        self.open_ports(&health, &registry, tasks).await?;
        let (notice_sender, notices) = mpsc::channel::<NoticeDelivery>(NOTICES_WAITING_MAX);
        let (metadata_sender, metadata) = watch::channel(NodeMetadata::default());
        let by_node = self.settings.node_metrics;
        let delegates = self.settings.delegates;
        let context = EventContext {
            provisioner: delegates.then(|| Provisioner::new(self.client.clone())),
            settings: Arc::new(self.settings),
            notices: notice_sender,
            counters: Counters::new(registry.clone(), by_node),
            store: Store::default(),
            webhook: self.webhook,
            metadata: metadata.clone(),
            events: self.events.map(|extra| {
                let settings = RecorderSettings { extra, own_node: self.node_name, metadata };
                KubernetesEvents::start(self.client.clone(), settings, health.failures().clone())
            }),
            health: health.clone(),
        };
        let mode = match self.source {
            Source::Queue(settings, session) => {
                let mode = QueueMode {
                    settings: Arc::new(*settings),
                    instances: session.instances(),
                    auto_scaling: session.auto_scaling(),
                    context,
                };
                Mode::Queue(Box::new(mode), session)
            }
            Source::Metadata(settings) => {
                let client = self.client.clone();
                let mode = MetadataMode::new(*settings, context, client, metadata_sender);
                Mode::Metadata(Box::new(mode))
            }
        };
        let settings = Settings {
            role: Role::TerminationHandler,
            // What AWS takes it takes, and waiting saves nothing.
            interruption_percent_per_minute: 100,
            drain: self.drain,
            kubernetes_events: false,
            ..Settings::default()
        };
        let controller = Controller {
            client: self.client,
            provider: Arc::new(NoProvider),
            shifted_zones: None,
            settings,
            default_spreads: Vec::new(),
            pace: self.pace,
            health,
            metrics: Metrics::new(registry, Shows::Totals),
            // The page is the registry alone: nobody asks for the cluster's objects.
            scrapes: mpsc::channel(1).1,
            notices,
            journal: self.journal,
            zonal_shifts: None,
            legacy: None,
            clock: Clock::default(),
            lease,
        };
        Ok(StartedHandler { controller, mode })
    }

    async fn open_ports(
        &self,
        health: &Health,
        registry: &Registry,
        tasks: &mut Tasks,
    ) -> Result<(), BindError> {
        let mut ports: Vec<(u16, String, Pages)> = Vec::new();
        if let Some(port) = self.metrics_port {
            let registry = registry.clone();
            let page = move || {
                let page = registry.page().finish();
                async move { Some(page) }
            };
            ports.push((port, "/metrics".to_owned(), Pages::default().metrics(page)));
        }
        if let Some((port, path)) = self.probe.clone() {
            ports.push((port, path.clone(), probes(&path, health.clone())));
        }
        for (port, path, pages) in ports {
            let server = pages.bind(all_addresses(port)).await?;
            info!("Starting to serve handler {path}, port {port}");
            tasks.spawn(format!("web server of {path}"), server.run(tasks.stopping()));
        }
        Ok(())
    }
}

/// The probe at a path, and readiness beside it. Without an answer of the queue the process is well
/// but not ready: a restart would not help. `?verbose` says so.
fn probes(path: &str, health: Health) -> Pages {
    const READY: &str = "/readyz";
    let check = |health: &Health, asks_all: bool| -> Result<Value, Value> {
        let verdict = match asks_all {
            true => health.liveness().and_then(|()| health.readiness()),
            false => health.liveness(),
        };
        verdict.map(|()| json!({"health": "OK"})).map_err(|why| json!({"health": why}))
    };
    let well = health.clone();
    let pages = Pages::default().json(path, move |query| {
        let is_verbose = query.is_some_and(|query| query.split('&').any(|it| it == "verbose"));
        check(&well, is_verbose)
    });
    match path == READY {
        true => pages,
        false => pages.json(READY, move |_| check(&health, true)),
    }
}

impl StartedHandler {
    /// Runs until `stop` ends. Watches from the start; receives and drains once `leading` is true.
    ///
    /// # Errors
    /// A task ended, which none does by itself.
    pub async fn run(
        self,
        leading: watch::Receiver<bool>,
        stop: impl Future<Output = Shutdown>,
    ) -> Result<(), TaskEnded> {
        let Self { controller, mode } = self;
        info!("Started watching for interruption events");
        info!("Kubernetes AWS Node Termination Handler has started successfully!");
        info!("Started watching for event cancellations");
        let (stop_reading, stopping) = watch::channel(false);
        let mut reading = tokio::spawn(mode.run(leading.clone(), stopping));
        let mut early = None;
        let stop = async {
            let shutdown = tokio::select! {
                shutdown = stop => shutdown,
                ended = &mut reading => {
                    let cause = ended.map_or_else(|error| error.to_string(), |()| "returned".into());
                    early = Some(TaskEnded { task: "source of events".to_owned(), cause });
                    return Shutdown::AtOnce;
                }
            };
            info!("AWS Node Termination Handler is shutting down");
            if shutdown == Shutdown::FinishFirst {
                stop_reading.send_replace(true);
                let _ = timeout(FINISH_WITHIN, &mut reading).await;
            }
            shutdown
        };
        let ended = controller.run(leading, stop).await;
        early.map_or(ended, Err)
    }
}
