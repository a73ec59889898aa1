//! Drives the engine: what is watched, received and answered goes in, what it asks for is carried
//! out. Nothing is decided here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_engine::action::{ActionId, ActionKind};
use kerf_engine::event::{Event, Outcome};
use kerf_engine::notice::NoticeId;
use kerf_engine::time::Time;
use kerf_engine::zonal_shift::{NodePoolMode, ShiftInput, ShiftKind};
use kerf_engine::{Engine, Orders};
use kerf_kube::Pace;
use kerf_notices::zonal_shift::UnixSeconds;
use kube::Client;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tracing::info;

use crate::clock::Clock;
use crate::daemon::account::Account;
use crate::daemon::complaints::{Complaints, Kind};
use crate::daemon::executor::{Answer, Executor};
use crate::daemon::inbox::{Arrived, Inbox};
use crate::daemon::metrics::Metrics;
use crate::daemon::poller::Silence;
use crate::daemon::reports::Reports;
use crate::daemon::watches::{Watch, Watched};
use crate::daemon::{EndsWithIt, Settings};
use crate::kinds::Kinds;
use crate::state_store::StateStore;

/// The engine is asked at least this often; what happens is told to it at once.
const TICK: Duration = Duration::from_secs(1);
/// How often the API server is asked which kinds it serves: definitions may come later.
const KINDS_SECONDS: i64 = 60;

/// What the loop works with.
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

/// The engine and what feeds it.
pub(crate) struct ReconcileLoop {
    tools: Tools,
    engine: Engine,
    executor: Executor,
    reports: Reports,
    store: StateStore,
    /// Absent until the API server told which kinds it serves.
    kinds: Option<Kinds>,
    kinds_due_at: Option<UnixSeconds>,
    /// The version of the ConfigMap by its watch; absent until the watch has told any.
    version_seen: Option<Option<String>>,
    /// Whether a write found that somebody else had written.
    is_state_outdated: bool,
    watched: mpsc::UnboundedSender<Watched>,
    /// Watches end when they are dropped.
    watches: Vec<Watch>,
    state_watch: Option<Watch>,
    calls: JoinSet<(ActionId, Answer)>,
    /// Received, and without a stored effect yet.
    messages: BTreeMap<NoticeId, Arrived>,
    last_message: u64,
}

impl ReconcileLoop {
    pub(crate) fn new(tools: Tools) -> (Self, mpsc::UnboundedReceiver<Watched>) {
        let (watched, updates) = mpsc::unbounded_channel();
        let store = StateStore::new(&tools.client, &tools.settings.namespace);
        let this = Self {
            engine: Engine::new(tools.settings.engine()),
            executor: Executor::new(&tools, store.clone()),
            reports: Reports::new(&tools),
            store,
            kinds: None,
            kinds_due_at: None,
            version_seen: None,
            is_state_outdated: false,
            watched,
            watches: Vec::new(),
            state_watch: None,
            calls: JoinSet::new(),
            messages: BTreeMap::new(),
            last_message: 0,
            tools,
        };
        (this, updates)
    }

    /// Runs until told to stop; calls under way come to their end first.
    pub(crate) async fn run(
        mut self,
        mut updates: mpsc::UnboundedReceiver<Watched>,
        mut stop: watch::Receiver<bool>,
    ) {
        let (sender, mut messages) = mpsc::channel(1);
        let mut poller = None;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if poller.is_none() && self.state_watch.is_some() && self.kinds.is_some() {
                let (silence, complaints) =
                    (self.tools.silence.clone(), self.tools.complaints.clone());
                let watching = self.tools.inbox.clone().watch(silence, complaints, sender.clone());
                poller = Some(EndsWithIt(tokio::spawn(watching)));
            }
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                Some(batch) = messages.recv(), if self.messages.is_empty() => self.announce(batch),
                Some(update) = updates.recv() => {
                    self.learn(update);
                    while let Ok(update) = updates.try_recv() {
                        self.learn(update);
                    }
                }
                Some(answer) = self.calls.join_next() => {
                    self.finish(answer.ok());
                    while let Some(answer) = self.calls.try_join_next() {
                        self.finish(answer.ok());
                    }
                }
                _ = ticks.tick() => {}
            }
            self.follow_state().await;
            self.look_around().await;
            self.decide();
        }
        while let Some(answer) = self.calls.join_next().await {
            self.finish(answer.ok());
            // What it would do next is the successor's.
            let orders = self.engine.decide(self.now());
            self.tell(orders);
        }
        self.reports.finish().await;
    }

    fn now(&self) -> Time {
        Time::from_seconds((self.tools.clock)().seconds())
    }

    fn known(&self) -> &NodePoolMode {
        &self.engine.world().zonal_shift
    }

    fn handle(&mut self, input: ShiftInput) {
        let now = self.now();
        self.engine.handle(Event::ZonalShift(Box::new(input)), now);
    }

    fn announce(&mut self, batch: Vec<Arrived>) {
        for message in batch {
            self.last_message += 1;
            let id = NoticeId(self.last_message);
            self.handle(ShiftInput::Announced { id, body: message.body().into() });
            self.messages.insert(id, message);
        }
    }

    fn learn(&mut self, update: Watched) {
        match update {
            Watched::Input(input) => self.handle(input),
            Watched::State(version) => self.version_seen = Some(version),
        }
    }

    fn finish(&mut self, answer: Option<(ActionId, Answer)>) {
        // A call that panicked is never answered; the engine gives it up and tries again.
        let Some((action, Answer { outcome, is_state_outdated })) = answer else { return };
        self.is_state_outdated |= is_state_outdated;
        if let Outcome::ZonalShift(input) = &outcome
            && let ShiftInput::Stored(stored) = &**input
        {
            self.store.hold(stored.clone());
        }
        let now = self.now();
        self.engine.handle(Event::Finished { action, outcome }, now);
    }

    fn decide(&mut self) {
        let mut orders = self.engine.decide(self.now());
        let actions = std::mem::take(&mut orders.actions);
        self.tell(orders);
        let pools = self.kinds.as_ref().map(|kinds| kinds.pools.clone()).unwrap_or_default();
        for action in actions {
            let ActionKind::ZonalShift(call) = action.kind else { continue };
            let uid = Executor::deleted_pool(&call).and_then(|pool| self.known().uid_of(pool));
            let answer = self.executor.clone().carry_out(*call, pools.clone(), uid);
            self.calls.spawn(async move { (action.id, answer.await) });
        }
        self.tools.metrics.shows(self.known());
    }

    fn tell(&mut self, orders: Orders) {
        let known = &self.engine.world().zonal_shift;
        for report in orders.shift_reports {
            self.reports.report(report, known, &mut self.messages);
        }
        self.reports.delete_settled();
    }

    /// Reads the state at the start, and whenever somebody else wrote it.
    async fn follow_state(&mut self) {
        let is_known = match (&self.state_watch, &self.version_seen) {
            _ if self.is_state_outdated => false,
            (None, _) => false,
            (Some(_), None) => true,
            (Some(_), Some(version)) => self.known().stored_version() == version.as_deref(),
        };
        if is_known {
            return;
        }
        match self.store.load().await {
            Ok(()) => {
                self.is_state_outdated = false;
                self.tools.complaints.settle("state");
            }
            Err(error) => return self.executor.complain_of_state(&error),
        }
        if self.state_watch.is_none() {
            let namespace = &self.tools.settings.namespace;
            self.state_watch = Some(Watch::state(&self.tools, namespace, self.watched.clone()));
        }
        let stored = self.store.shifts().clone();
        if self.known().state() != Some(&stored.state) && !stored.state.away().is_empty() {
            info!(away = ?stored.state.away(), "the stored state was read");
        }
        self.version_seen = Some(stored.version.clone());
        self.handle(ShiftInput::Stored(stored));
    }

    /// Asks the API server which kinds there are, when it is time to.
    async fn look_around(&mut self) {
        let now = (self.tools.clock)();
        let is_due = self.kinds_due_at.is_none_or(|due| due <= now);
        if !is_due || self.state_watch.is_none() {
            return;
        }
        match Kinds::discover(&self.tools.client).await {
            Ok(kinds) => self.watch_kinds(kinds),
            Err(failure) => {
                let words = format!("which kinds there are is not known: {failure}");
                self.tools.complaints.complain("kinds", Kind::Failing, words);
            }
        }
        self.kinds_due_at = Some(now.plus(KINDS_SECONDS));
    }

    fn watch_kinds(&mut self, kinds: Kinds) {
        if kinds.pools.is_empty() {
            let words = "this cluster has no NodePools: their definition is not installed";
            self.tools.complaints.complain("kinds", Kind::Denied, words.to_owned());
        } else {
            self.tools.complaints.settle("kinds");
        }
        if self.kinds.as_ref() == Some(&kinds) {
            return;
        }
        let served = kinds.pools.iter().chain(&kinds.node_classes);
        let served: Vec<_> = served.map(|kind| kind.plural.as_str()).collect();
        info!(kinds = served.join(","), auto_mode = kinds.is_auto_mode(), "watching");
        let watched: Vec<(ShiftKind, _)> = kinds.shift_kinds();
        self.handle(ShiftInput::Served {
            kinds: watched.iter().map(|(kind, _)| kind.clone()).collect(),
            is_auto_mode: kinds.is_auto_mode(),
        });
        let start =
            |(kind, resource)| Watch::all(&self.tools, kind, resource, self.watched.clone());
        self.watches = watched.into_iter().map(start).collect();
        self.kinds = Some(kinds);
    }
}
