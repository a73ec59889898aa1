//! From answers of the metadata service to a drained node, and to an open one where nothing comes of
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kerf_engine::event::Kind;
use kerf_engine::notice::{Handling as NoticeHandling, NoticeKind, NoticeOutcome};
use kerf_engine::time::Time;
use kerf_kube::NoticeDelivery;
use kerf_notices::imds::active::{ActiveEvents, Ending};
use kerf_notices::imds::reboot;
use kerf_notices::zonal_shift::UnixSeconds;
use kerf_runtime::queue::QueueHealth;
use kerf_runtime::{Kind as _, clock};
use kube::{Api, Client};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{error, info, warn};

use super::announcements::{Announcement, Said};
use super::client::{MetadataClient, MetadataError};
use super::node_metadata::NodeMetadata;
use crate::context::EventContext;
use crate::event::{Handling, Target};
use crate::kubernetes_events::Phase;
use crate::metrics::NodeAction;
use crate::record::EventRecord;
use crate::settings::{LogVersion, MetadataSettings, Monitor};
use crate::store::Fate;

/// How often each monitor asks.
const POLL_EVERY: Duration = Duration::from_secs(2);
/// How long at most between two questions while nobody answers.
const POLL_MAX: Duration = Duration::from_secs(60);
/// The metadata service may be silent for so long before the handler is no longer ready.
const SILENT_AFTER: Duration = Duration::from_secs(300);
/// How long an event that failed waits before it is tried again: as long as a queue hides a message.
const AGAIN_AFTER: Duration = Duration::from_secs(20);
/// Tries to read the own node at the start, and the pause between them.
const NODE_TRIES: u32 = 4;
const NODE_PAUSE: Duration = Duration::from_secs(2);

/// Handles what the metadata service says. Copies share everything.
#[derive(Clone)]
pub(crate) struct MetadataMode {
    settings: Arc<MetadataSettings>,
    context: EventContext,
    client: MetadataClient,
    kubernetes: Client,
    metadata: Arc<watch::Sender<NodeMetadata>>,
    health: QueueHealth,
    active: Arc<Mutex<ActiveEvents>>,
    /// Events that are handled now, or wait for another try.
    in_hand: Arc<Mutex<BTreeSet<String>>>,
}

impl MetadataMode {
    pub(crate) fn new(
        settings: MetadataSettings,
        context: EventContext,
        kubernetes: Client,
        metadata: watch::Sender<NodeMetadata>,
    ) -> Self {
        let health = QueueHealth::new("the metadata service");
        health.silent_after(SILENT_AFTER);
        context.health.read_queue(health.clone());
        Self {
            client: MetadataClient::new(&settings.url, settings.tries),
            settings: Arc::new(settings),
            context,
            kubernetes,
            metadata: Arc::new(metadata),
            health,
            active: Arc::default(),
            in_hand: Arc::default(),
        }
    }

    /// Asks until `stop` turns true, then finishes what it has begun.
    pub(crate) async fn run(self, mut stop: watch::Receiver<bool>) {
        let ready = async {
            self.context.health.until_listed(&[Kind::Pod, Kind::Node]).await;
            self.describe().await;
            self.resume().await;
        };
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = ready => {}
        }
        let mut monitors = JoinSet::new();
        for monitor in self.settings.monitors.clone() {
            match self.context.settings.log_version {
                LogVersion::One => {
                    info!({ event_type = monitor.name() }, "Started monitoring for events");
                }
                LogVersion::Two => {
                    info!({ monitor_type = monitor.name() }, "Started monitoring for events");
                }
            }
            monitors.spawn(self.clone().monitor(monitor, stop.clone()));
        }
        monitors.join_all().await;
        let _ = stop.wait_for(|stop| *stop).await;
    }

    /// Learns what the instance is. Events are handled all the same where nobody says so.
    async fn describe(&self) {
        match NodeMetadata::ask(&self.client).await {
            Ok(metadata) => {
                let shown = serde_json::to_string(&metadata).unwrap_or_default();
                info!({ metadata = shown }, "Startup Metadata Retrieved");
                self.metadata.send_replace(metadata);
                self.health.note();
            }
            Err(error) => warn!({ %error }, "The instance's metadata is not known"),
        }
    }

    /// Goes on where an earlier process ended: opens the node after the reboot it was closed for, and
    /// knows again what it was closed for otherwise.
    async fn resume(&self) {
        if !self.settings.monitors.contains(&Monitor::Scheduled) {
            return;
        }
        let Some(labels) = self.own_labels().await else { return };
        let uptime = std::fs::read_to_string(&self.settings.uptime_file);
        let uptime = uptime.ok().and_then(|text| reboot::uptime_seconds(&text));
        let Some(uptime) = uptime else {
            let file = self.settings.uptime_file.display().to_string();
            warn!({ file }, "The uptime is not known; the node stays as it is");
            return;
        };
        let now = UnixSeconds::at(clock::now().as_second());
        match reboot::is_over(&labels, uptime, now) {
            Some(event_id) => {
                self.events().ignore(event_id);
                self.open("the reboot is over").await;
            }
            None => {
                if let Some(closed_for) = labels.get(reboot::EVENT_ID) {
                    self.events().begin(closed_for);
                }
            }
        }
    }

    async fn own_labels(&self) -> Option<BTreeMap<String, String>> {
        let api = Api::<Node>::all(self.kubernetes.clone());
        for _ in 0..NODE_TRIES {
            match api.get_opt(&self.settings.node_name).await {
                Ok(node) => return node.map(|node| node.metadata.labels.unwrap_or_default()),
                Err(error) => warn!({ %error }, "The own node cannot be read"),
            }
            sleep(NODE_PAUSE).await;
        }
        None
    }

    /// Asks one question again and again.
    async fn monitor(self, monitor: Monitor, mut stop: watch::Receiver<bool>) {
        let (sender, mut handled) = mpsc::channel::<()>(1);
        let mut pause = POLL_EVERY;
        loop {
            let asked = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                asked = self.ask(monitor) => asked,
            };
            match asked {
                Ok(said) => {
                    self.context.health.failures().recovered(monitor.name());
                    self.health.note();
                    pause = POLL_EVERY;
                    for said in said {
                        self.hear(monitor, said, &sender, &stop).await;
                    }
                }
                Err(error) => {
                    self.fail(monitor, &error);
                    pause = (pause * 2).min(POLL_MAX);
                }
            }
            let _ = timeout(pause, stop.wait_for(|stop| *stop)).await;
        }
        // Each event under way holds a sender.
        drop(sender);
        let _ = handled.recv().await;
    }

    async fn ask(&self, monitor: Monitor) -> Result<Vec<Said>, MetadataError> {
        let Some(body) = self.client.get(monitor.path()).await? else { return Ok(Vec::new()) };
        let instance = self.metadata.borrow().instance_id.clone();
        Ok(monitor.read(&body, &instance, clock::now())?)
    }

    fn fail(&self, monitor: Monitor, error: &MetadataError) {
        self.health.failed(error.to_string());
        self.context.counters.failed(monitor.name());
        let failures = self.context.health.failures();
        if failures.failed(monitor.name(), error.kind(), error.to_string())
            && let Some(events) = &self.context.events
        {
            events.monitor_error(monitor.name());
        }
    }

    async fn hear(
        &self,
        monitor: Monitor,
        said: Said,
        under_way: &mpsc::Sender<()>,
        stop: &watch::Receiver<bool>,
    ) {
        let announcement = match said {
            Said::Announced(announcement) => announcement,
            Said::Over(event_id) => return self.call_off(&event_id).await,
        };
        let event_id = announcement.announced.event_id.clone();
        if self.context.store.knows(&event_id) || !self.events().begin(&event_id) {
            return;
        }
        if !self.in_hand().insert(event_id.clone()) {
            return;
        }
        let (mode, mut stop) = (self.clone(), stop.clone());
        let handling = self.handling(monitor, *announcement);
        let under_way = under_way.clone();
        tokio::spawn(async move {
            if handling.run().await == Fate::Kept {
                let _ = timeout(AGAIN_AFTER, stop.wait_for(|stop| *stop)).await;
            }
            mode.in_hand().remove(&event_id);
            drop(under_way);
        });
    }

    fn handling(&self, monitor: Monitor, announcement: Announcement) -> Handling {
        let Announcement { announced, description, deadline, labels, labels_if_open } =
            announcement;
        let metadata = self.metadata.borrow();
        let node_name = &self.settings.node_name;
        let record =
            EventRecord::of_metadata(&announced, (monitor, description), node_name, &metadata);
        let due_at = announced.time.checked_sub(self.settings.drain_before).ok();
        Handling {
            context: self.context.clone(),
            announced,
            record,
            target: Target {
                node_names: vec![node_name.as_str().into()],
                deadline: deadline.map(|at| Time::from_millis(at.as_millisecond())),
                labels,
                labels_if_open,
                due_at,
            },
            hooks: None,
            finishes_without_node: false,
        }
    }

    /// Maintenance was called off or is done. The service says so again and again.
    async fn call_off(&self, event_id: &str) {
        let ending = self.events().end(event_id);
        match ending {
            Ending::Unknown => {}
            Ending::OthersActive => {
                info!(
                    { "event-id" = event_id, node_name = self.settings.node_name },
                    "Another interruption event is active, not uncordoning the node"
                );
            }
            Ending::Last => self.open(&format!("{event_id} is over or called off")).await,
        }
    }

    /// Opens the node and takes every mark of the handler off it.
    async fn open(&self, why: &str) {
        let node_name = &self.settings.node_name;
        if self.context.settings.dry_run {
            info!({ node_name, reason = why }, "Node would have been uncordoned, but dry-run flag was set");
            return;
        }
        let instances = vec![self.metadata.borrow().instance_id.as_str().into()];
        let (sender, mut found) = mpsc::unbounded_channel();
        let (delivery, outcome) = NoticeDelivery::handled(
            NoticeKind::Withdrawn,
            instances,
            NoticeHandling::default(),
            sender,
        );
        if self.context.notices.send(delivery).await.is_err() {
            return;
        }
        let outcome = outcome.await;
        let is_ok = matches!(outcome, Ok(NoticeOutcome::Opened));
        self.context.counters.acted(NodeAction::Uncordon, is_ok, (node_name, ""));
        match is_ok {
            true => info!({ node_name, reason = why }, "Node successfully uncordoned"),
            false => {
                error!({ node_name, reason = why }, "There was a problem while trying to uncordon the node");
            }
        }
        if let (Some(events), Some(node)) = (&self.context.events, found.recv().await) {
            let phase = Phase::uncordon(is_ok);
            events.about_node(&node, phase.is_warning, phase.reason, phase.text);
        }
    }

    fn events(&self) -> MutexGuard<'_, ActiveEvents> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_hand(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
