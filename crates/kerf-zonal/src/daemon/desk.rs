//! Where everything comes together: one task owns the state and takes turns.
//!
//! A turn looks at what is new, stores what follows from it, and carries out what follows from the
//! state. Anything that fails is met again by a later turn; nothing is kept that cannot be lost.

mod correction;
mod messages;
mod planning;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kerf_kube::Pace;
use kerf_notices::zonal_shift::{
    CONFIG_MAP, EditMemory, Scope, ShiftState, UnixSeconds, ZoneTable,
};
use kube::Client;
use kube::api::ApiResource;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};
use tracing::info;

use crate::api_call::ApiFailure;
use crate::clock::Clock;
use crate::daemon::account::Account;
use crate::daemon::announcer::Announcer;
use crate::daemon::complaints::{Complaints, Kind};
use crate::daemon::inbox::{Arrived, Inbox};
use crate::daemon::metrics::Metrics;
use crate::daemon::mirror::{Mirror, Watch};
use crate::daemon::mirrors::Mirrors;
use crate::daemon::poller::Silence;
use crate::daemon::surroundings::Surroundings;
use crate::daemon::{EndsWithIt, Settings};
use crate::kinds::Kinds;
use crate::state_store::{StateStore, StoreError};

use correction::ArcSight;
use planning::Planning;

/// A turn comes at least this often; messages have theirs at once.
const TURN_EVERY: Duration = Duration::from_secs(1);
/// How often the API server is asked which kinds it serves: definitions may come later.
const KINDS_SECONDS: i64 = 60;

/// What the desk works with.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) settings: Settings,
    pub(crate) client: Client,
    pub(crate) account: Account,
    pub(crate) inbox: Inbox,
    pub(crate) pace: Pace,
    pub(crate) clock: Clock,
    pub(crate) complaints: Complaints,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) silence: Arc<Silence>,
}

/// The state, what is known, and what is to be done.
pub(crate) struct Desk {
    tools: Tools,
    announcer: Announcer,
    watch: Watch,
    store: StateStore,
    /// Absent until the state has been read.
    stored_object: Option<Mirror>,
    surroundings: Surroundings,
    mirrors: Option<Mirrors>,
    /// Ids and names of zones, by EC2, else by node classes, nodes, and what was stored.
    zones: ZoneTable,
    kinds_due_at: Option<UnixSeconds>,
    arc: ArcSight,
    planning: Planning,
    memory: EditMemory,
    /// Received, and without a stored effect yet.
    pending: Vec<Arrived>,
    started_at: UnixSeconds,
}

impl Desk {
    pub(crate) fn new(tools: Tools) -> Self {
        let (client, complaints) = (tools.client.clone(), tools.complaints.clone());
        let now = (tools.clock)();
        Self {
            announcer: Announcer::new(client.clone(), complaints.clone()),
            store: StateStore::new(&client, &tools.settings.namespace),
            watch: Watch { client, complaints, changes: Arc::new(AtomicBool::new(false)) },
            stored_object: None,
            surroundings: Surroundings::default(),
            mirrors: None,
            zones: ZoneTable::default(),
            kinds_due_at: None,
            arc: ArcSight::new(now),
            planning: Planning::default(),
            memory: EditMemory::default(),
            pending: Vec::new(),
            started_at: now,
            tools,
        }
    }

    /// Takes turns until told to stop; the turn under way is finished first.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let (sender, mut messages) = mpsc::channel(1);
        let mut poller = None;
        let mut turns = interval(TURN_EVERY);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if poller.is_none() && self.is_ready() {
                let (silence, complaints) =
                    (self.tools.silence.clone(), self.tools.complaints.clone());
                let watching = self.tools.inbox.clone().watch(silence, complaints, sender.clone());
                poller = Some(EndsWithIt(tokio::spawn(watching)));
            }
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                Some(batch) = messages.recv(), if self.pending.is_empty() => self.pending = batch,
                _ = turns.tick() => {}
            }
            self.turn().await;
        }
    }

    async fn turn(&mut self) {
        let now = (self.tools.clock)();
        if !self.follow_state().await {
            return;
        }
        self.look_around(now).await;
        self.correct(now).await;
        self.take_in(now).await;
        self.plan(now).await;
    }

    /// Whether messages can be understood and their effect stored.
    fn is_ready(&self) -> bool {
        self.stored_object.is_some() && self.mirrors.is_some()
    }

    /// Reads the state at the start, and whenever somebody else wrote it. False if it is not known.
    async fn follow_state(&mut self) -> bool {
        let is_known = self.stored_object.as_ref().is_some_and(|stored| {
            let object = stored.get(CONFIG_MAP);
            let version = object.as_ref().and_then(|o| o.pointer("/metadata/resourceVersion"));
            !stored.is_settled() || self.store.is_at(version.and_then(Value::as_str))
        });
        if is_known {
            return true;
        }
        let before = self.store.state().clone();
        match self.store.load().await {
            Ok(()) => self.tools.complaints.settle("state"),
            Err(error) => {
                self.complain_of_state(&error);
                return false;
            }
        }
        if self.stored_object.is_none() {
            let (kind, namespace) =
                (ApiResource::erase::<ConfigMap>(&()), &self.tools.settings.namespace);
            self.stored_object = Some(Mirror::one(kind, namespace, CONFIG_MAP, &self.watch));
        }
        if *self.store.state() != before {
            info!(away = ?self.store.state().away(), "the stored state was read");
            self.planning.is_due = true;
        }
        true
    }

    /// Asks the API server and AWS what there is, when it is time to.
    async fn look_around(&mut self, now: UnixSeconds) {
        if self.kinds_due_at.is_none_or(|due| due <= now) {
            match Kinds::discover(&self.tools.client).await {
                Ok(kinds) => self.watch_kinds(kinds),
                Err(failure) => {
                    let words = format!("which kinds there are is not known: {failure}");
                    self.tools.complaints.complain("kinds", Kind::Failing, words);
                }
            }
            self.kinds_due_at = Some(now.plus(KINDS_SECONDS));
        }
        let Tools { account, settings, complaints, .. } = &self.tools;
        let name = &settings.cluster_name;
        if self.surroundings.refresh_if_due(account, name, complaints, now).await {
            self.planning.is_due = true;
        }
        if self.watch.changes.swap(false, Ordering::AcqRel) {
            self.planning.is_due = true;
        }
        if self.planning.is_due {
            self.learn_zones();
        }
    }

    fn watch_kinds(&mut self, kinds: Kinds) {
        if kinds.pools.is_empty() {
            let words = "this cluster has no NodePools: their definition is not installed";
            self.tools.complaints.complain("kinds", Kind::Denied, words.to_owned());
        } else {
            self.tools.complaints.settle("kinds");
        }
        if self.mirrors.as_ref().is_none_or(|mirrors| mirrors.kinds != kinds) {
            let served = kinds.pools.iter().chain(&kinds.node_classes);
            let served: Vec<_> = served.map(|kind| kind.plural.as_str()).collect();
            info!(kinds = served.join(","), auto_mode = kinds.is_auto_mode(), "watching");
            self.mirrors = Some(Mirrors::new(kinds, &self.watch));
            self.planning.is_due = true;
        }
    }

    /// Stores a state. False if that failed; a later turn thinks it over again.
    async fn keep(&mut self, state: &ShiftState) -> bool {
        if self.store.holds(state, &self.zones) {
            return true;
        }
        self.planning.is_due = true;
        match self.store.save(state, &self.zones).await {
            Ok(()) => {
                self.tools.complaints.settle("state");
                true
            }
            Err(error) if error.is_conflict() => {
                // Read at once, so that the next turn starts from what is there.
                let _ = self.store.load().await;
                false
            }
            Err(error) => {
                self.complain_of_state(&error);
                false
            }
        }
    }

    fn complain_of_state(&self, error: &StoreError) {
        let is_denied = matches!(error, StoreError::Newer { .. })
            || matches!(error, StoreError::Call { failure: ApiFailure::Denied(_), .. });
        let kind = if is_denied { Kind::Denied } else { Kind::Failing };
        self.tools.complaints.complain("state", kind, error.to_string());
    }

    /// Learns from every source which zones there are; the first that knows one is believed.
    fn learn_zones(&mut self) {
        let mut zones = self.surroundings.zones.clone();
        if let Some(mirrors) = &self.mirrors {
            zones = mirrors.view(zones).zones;
        }
        for (id, name) in self.store.zones().pairs() {
            zones.learn(id, name);
        }
        self.zones = zones;
    }

    fn scope(&self) -> Scope {
        let settings = &self.tools.settings;
        Scope {
            region: settings.region.clone(),
            cluster_name: settings.cluster_name.clone(),
            cluster_arn: self.surroundings.cluster_arn().map(str::to_owned),
            matching: settings.matching.clone(),
        }
    }
}
