//! The running controller: one task owns the engine, everything else talks to it by channels.
//!
//! ```text
//!  watches ─updates─► ┌───────────────┐ ──actions──► executors ────┐
//!  provider ─offers─► │ engine's task │ ──Events──► event recorder │
//!  queue ───notices─► │               │ ─outcomes─► the queue      │
//!  /metrics ──asks──► └───────────────┘ ◄─────── outcomes ─────────┘
//! ```

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kerf_api::legacy::{Options as LegacyOptions, PROVISIONER_NAME};
use kerf_engine::action::ActionKind;
use kerf_engine::event::{Event, Key, Kind, Object, Outcome};
use kerf_engine::memory::CLOCK_AHEAD_MIN;
use kerf_engine::observed::{Name, ShiftedZone};
use kerf_engine::time::Time;
use kerf_engine::zonal_shift::ShiftReport;
use kerf_engine::{Engine, Orders, Role, Settings, panic_counted};
use kerf_journal::{Header, JournaledEngine};
use kerf_model::labels::ProviderLabels;
use kerf_model::node_spec::NodeClassRef;
use kerf_model::pod::SpreadConstraint;
use kerf_runtime::clock::Clock;
use kerf_runtime::shutdown::FINISH_EVENTS_WITHIN;
use kerf_runtime::{LeaseTerm, Shutdown, TaskEnded, Tasks};
use kube::Client;
use tokio::sync::{mpsc, watch as signal};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{debug, error, info, warn};

use crate::client::event_recorder::EventRecorder;
use crate::client::execute::{Executor, Pace};
use crate::client::executor_pool::ExecutorPool;
use crate::client::health::Health;
use crate::client::instance_types::InstanceTypes;
use crate::client::journal::{JournalFiles, JournalWriter};
use crate::client::legacy::{self, LegacyObjects};
use crate::client::metrics::{Metrics, Scrape};
use crate::client::notices::{NoticeDelivery, Notices};
use crate::client::observe::{Observer, WatchUpdate};
use crate::client::provider::Provider;
use crate::client::runbook_log::RunbookLog;
use crate::client::server_time;
use crate::client::shifts;
use crate::client::solver_pool::SolverPool;
use crate::client::watch::{self, PodsByOwner};
use crate::client::words::words;
use crate::client::zonal::{self, ZonalShifts};

/// Outcomes and offers that may wait for the engine; those who bring them wait beyond that.
const EVENTS_WAITING_MAX: usize = 1_024;
/// Events taken in before deciding again, so that a flood of them does not put decisions off.
const EVENTS_PER_DECISION_MAX: usize = 512;

/// The engine's task goes round so often at least, so that one that is stuck is noticed.
const BEAT_EVERY: Duration = Duration::from_secs(10);
/// How long a new process waits for the API server's time before it decides without.
const SERVER_TIME_WITHIN: Duration = Duration::from_secs(5);
/// The host's clock, as the failure log names it.
const HOST_CLOCK: &str = "the host's clock";
/// The stored state of zonal shifts, as the failure log names it.
const SHIFT_STATE: &str = "reading the state";

/// What a controller needs.
pub struct Controller<P> {
    /// How to reach the API server.
    pub client: Client,
    /// Where instances come from.
    pub provider: Arc<P>,
    /// How to decide. What only the provider knows is filled in.
    pub settings: Settings,
    /// How pods spread that say nothing about it.
    pub default_spreads: Vec<SpreadConstraint>,
    /// How fast to call.
    pub pace: Pace,
    /// What readiness is judged by.
    pub health: Health,
    /// What is counted.
    pub metrics: Metrics,
    /// Asks for the gauges of this moment.
    pub scrapes: mpsc::Receiver<Scrape>,
    /// The zones the cluster is shifted away from, as they change, where anybody says so.
    pub shifted_zones: Option<signal::Receiver<Vec<ShiftedZone>>>,
    /// What the cloud announces about instances.
    pub notices: mpsc::Receiver<NoticeDelivery>,
    /// Where the engine's events and actions are kept for a replay, if anywhere.
    pub journal: Option<JournalFiles>,
    /// What NodePool mode of zonal shifts needs, where the settings switch it on.
    pub zonal_shifts: Option<ZonalShifts>,
    /// What the old global settings say, where Provisioners and AWSNodeTemplates are served.
    pub legacy: Option<LegacyOptions>,
    /// What time it is.
    pub clock: Clock,
    /// Until when this process may act.
    pub lease: LeaseTerm,
}

impl<P: Provider> Controller<P> {
    /// Runs until `stop` ends. Watches from the start and decides once `leading` is true.
    ///
    /// # Errors
    /// A watch ended, which none does by itself.
    pub async fn run(
        self,
        mut leading: signal::Receiver<bool>,
        stop: impl Future<Output = Shutdown>,
    ) -> Result<(), TaskEnded> {
        let mut settings = with_provider(self.settings, self.provider.as_ref());
        let legacy = self.legacy.map(|options| {
            // Pods of that time choose their nodes by it.
            let rules = settings.scheduler.label_rules.clone();
            let rules = rules.with(&ProviderLabels::new().allowed(PROVISIONER_NAME));
            settings.scheduler.label_rules = rules.clone();
            LegacyObjects::new(options, rules)
        });
        let (update_sender, mut updates) = mpsc::channel(watch::UPDATES_WAITING_MAX);
        let (event_sender, mut events) = mpsc::channel(EVENTS_WAITING_MAX);
        let pods_by_owner = match self.default_spreads.is_empty() {
            true => PodsByOwner::Ignored,
            false => PodsByOwner::Watched,
        };
        let mut tasks = Tasks::default();
        let (role, eviction_grace) = (settings.role, settings.drain.pod_grace_seconds);
        let watched = watch::Watched { client: &self.client, settings: &settings, pods_by_owner };
        watch::start(watched, &update_sender, &self.health, &mut tasks);
        let mut observer = Observer::new(&settings).with_default_spreads(self.default_spreads);
        if let Some(legacy) = &legacy {
            observer = observer.with_legacy(legacy.clone());
            let (client, health) = (self.client.clone(), self.health.clone());
            let watching = legacy::watch_served(client, update_sender.clone(), health);
            tasks.spawn("watch legacy kinds", watching);
        }
        if let Some(shifts) = &self.zonal_shifts {
            let (client, served) = (self.client.clone(), shifts.served.clone());
            let watching =
                zonal::watch_served(client, served, update_sender.clone(), self.health.clone());
            tasks.spawn("watch served kinds", watching);
            let leading = zonal::follow_lead(shifts.leading.clone(), event_sender.clone());
            tasks.spawn("lead of zonal shifts", leading);
        }
        if let Some(zones) = self.shifted_zones {
            tasks.spawn("shifted zones", shifts::follow(zones, event_sender.clone()));
        }
        // Nothing is decided before it is known what time it is, if the server says so soon.
        let timed_by = self.clock.is_hosts().then(|| Instant::now() + SERVER_TIME_WITHIN);
        if timed_by.is_some() {
            let following = server_time::follow(self.client.clone(), event_sender.clone());
            tasks.spawn("server time", following);
        }
        let (event_recorder, announcing) =
            EventRecorder::start(self.client.clone(), role, self.health.failures().clone());
        let event_recorder = event_recorder.with_legacy(legacy.clone());
        let (mut scrapes, mut notices) = (self.scrapes, self.notices);
        let mut reconcile_loop = ReconcileLoop {
            engine: journaled(settings, self.journal),
            observer,
            solver_pool: SolverPool::new(event_sender.clone(), self.metrics.clone()),
            executor_pool: ExecutorPool::new(
                Executor::new(self.client, self.provider.clone(), self.pace)
                    .with_lease(self.lease)
                    .with_eviction_grace(eviction_grace)
                    .with_legacy(legacy)
                    .with_shift_account(self.zonal_shifts.map(|shifts| shifts.account)),
                event_sender.clone(),
                self.metrics.clone(),
                self.provider.info().name.into(),
                self.health.failures().clone(),
            ),
            instance_types: InstanceTypes::new(self.provider.clone(), event_sender),
            provider: self.provider,
            event_recorder,
            runbook_log: RunbookLog::new(),
            metrics: self.metrics,
            health: self.health,
            notices: Notices::default(),
            clock: self.clock,
            timed_by,
            silent: BTreeSet::new(),
            has_taken_over: false,
        };
        let mut stop = std::pin::pin!(stop);
        let shutdown = loop {
            reconcile_loop.health.beat();
            let wake = reconcile_loop.wake_at(*leading.borrow() && reconcile_loop.is_timed());
            tokio::select! {
                shutdown = &mut stop => break shutdown,
                ended = tasks.first_ended() => return Err(ended),
                Some(scrape) = scrapes.recv() => reconcile_loop.answer(scrape),
                Ok(()) = leading.changed() => {}
                Some(update) = updates.recv() => reconcile_loop.learn(update),
                Some(event) = events.recv() => reconcile_loop.take_in(event),
                Some(notice) = notices.recv() => reconcile_loop.hear(notice),
                () = sleep_until(wake) => {}
            }
            reconcile_loop.catch_up(&mut notices, &mut events, &mut updates);
            if *leading.borrow() && reconcile_loop.is_timed() {
                reconcile_loop.decide();
            } else {
                reconcile_loop.stand_by();
            }
            // The engine has looked at the clock by now: a step of it makes no watch silent.
            reconcile_loop.note_silence();
        };
        if shutdown == Shutdown::AtOnce {
            return Ok(());
        }
        let ReconcileLoop { solver_pool, executor_pool, event_recorder, .. } = reconcile_loop;
        solver_pool.stop();
        executor_pool.finish(&mut events).await;
        drop(event_recorder);
        let _ = timeout(FINISH_EVENTS_WITHIN, announcing).await;
        Ok(())
    }
}

/// The node an event tells of.
fn seen_node(event: &Event) -> Option<Name> {
    match event {
        Event::Seen(object) => match &**object {
            Object::Node(node) => Some(node.meta.name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The settings with what only the provider knows.
fn with_provider(mut settings: Settings, provider: &impl Provider) -> Settings {
    settings.provider = provider.info();
    settings.scheduler.label_rules = provider.label_rules();
    settings
}

/// The engine, with a journal if there are files for one. A disk that is full is no reason not to
/// decide.
fn journaled(settings: Settings, files: Option<JournalFiles>) -> JournaledEngine<JournalWriter> {
    let header = Header::new(env!("CARGO_PKG_VERSION"), settings.clone());
    let started = files.map(|files| JournalWriter::start(files, header)).transpose();
    let journal = started.unwrap_or_else(|error| {
        error!(%error, "the journal cannot be written; there will be none");
        None
    });
    JournaledEngine::new(Engine::new(settings), journal)
}

/// Where the engine sits.
struct ReconcileLoop<P> {
    engine: JournaledEngine<JournalWriter>,
    observer: Observer,
    provider: Arc<P>,
    executor_pool: ExecutorPool<P>,
    solver_pool: SolverPool,
    instance_types: InstanceTypes<P>,
    event_recorder: EventRecorder,
    metrics: Metrics,
    runbook_log: RunbookLog,
    health: Health,
    notices: Notices,
    clock: Clock,
    /// Until when the server's time is waited for; none once it was heard.
    timed_by: Option<Instant>,
    /// The kinds that were not heard of for too long when last looked.
    silent: BTreeSet<Kind>,
    /// Whether the provider knows which claims there were when this process began to decide.
    has_taken_over: bool,
}

impl<P: Provider> ReconcileLoop<P> {
    /// Takes in what has come meanwhile, within reason, notices first: they are what hurries.
    fn catch_up(
        &mut self,
        notices: &mut mpsc::Receiver<NoticeDelivery>,
        events: &mut mpsc::Receiver<Event>,
        updates: &mut mpsc::Receiver<WatchUpdate>,
    ) {
        for _ in 0..EVENTS_PER_DECISION_MAX {
            if let Ok(notice) = notices.try_recv() {
                self.hear(notice);
            } else if let Ok(event) = events.try_recv() {
                self.take_in(event);
            } else if let Ok(update) = updates.try_recv() {
                self.learn(update);
            } else {
                break;
            }
        }
    }

    /// Says that this host's clock is wrong, or right again.
    fn compare_clocks(&self, server: Time) {
        let (failures, ahead) = (self.health.failures(), self.now().since(server));
        if ahead > CLOCK_AHEAD_MIN {
            let seconds = ahead.seconds();
            let why = format!("{seconds} s ahead of the API server's; nothing is ended by it");
            failures.failed(HOST_CLOCK, "ahead", why);
        } else {
            failures.recovered(HOST_CLOCK);
        }
    }

    /// Whether the server's time was heard, or waited for long enough.
    fn is_timed(&self) -> bool {
        self.timed_by.is_none_or(|until| Instant::now() >= until)
    }

    fn hear(&mut self, notice: NoticeDelivery) {
        let event = self.notices.take_in(notice);
        self.take_in(event);
    }

    fn learn(&mut self, update: WatchUpdate) {
        for event in self.observer.observe(update, self.engine.world()) {
            self.take_in(event);
        }
        for _ in 0..self.observer.take_panics() {
            self.metrics.count(vec![panic_counted("observer")]);
        }
    }

    fn take_in(&mut self, event: Event) {
        let mut event = event;
        self.complete(&mut event);
        let listed = match &event {
            Event::Listed(kind) => Some(*kind),
            _ => None,
        };
        if let Event::ServerTime(server) = event {
            self.timed_by = None;
            self.compare_clocks(server);
        }
        let was_complete = self.engine.world().is_complete();
        let node = seen_node(&event);
        let (pools, now) = (self.offer_dependents(&event), self.now());
        self.runbook_log.hear(&event, self.engine.world());
        self.engine.handle(event, now);
        for pool in pools {
            self.ask_instance_types(&pool);
        }
        if was_complete && let Some(node) = node {
            self.show_node(&node);
        }
        if let Some(kind) = listed {
            self.health.listed(kind);
            if !was_complete && self.engine.world().is_complete() {
                info!("the cluster is known; ready to decide");
                self.health.complete();
                let nodes: Vec<Name> = self.engine.world().nodes.keys().cloned().collect();
                nodes.iter().for_each(|node| self.show_node(node));
            }
        }
    }

    /// Shows the provider a node and its claim, if it has one.
    fn show_node(&self, name: &Name) {
        let world = self.engine.world();
        let Some(node) = world.nodes.get(name) else { return };
        if let Some(claim) = world.claim_of(node) {
            self.provider.see_node(node, claim);
        }
    }

    /// Adds what only the observer or the provider knows of an object.
    fn complete(&mut self, event: &mut Event) {
        let object = match event {
            Event::Finished { outcome: Outcome::Stored(object), .. } => {
                self.observer.complete(object);
                object
            }
            Event::Seen(object) => object,
            _ => return,
        };
        if let Object::NodeClass(class) = &mut **object {
            class.hash = self.provider.node_class_hash(class);
        }
    }

    /// The pools whose instance types an event may change.
    fn offer_dependents(&self, event: &Event) -> Vec<Name> {
        let of_class = |class: &NodeClassRef| {
            let pools = self.engine.world().pools.values();
            let pools = pools.filter(|pool| pool.spec.template.spec.node_class == *class);
            pools.map(|pool| pool.meta.name.clone()).collect()
        };
        match event {
            // Of what stands for legacy objects no watch tells what was written.
            Event::Seen(object) | Event::Finished { outcome: Outcome::Stored(object), .. } => {
                match &**object {
                    Object::Pool(pool) => vec![pool.meta.name.clone()],
                    Object::NodeClass(class) => of_class(&class.key),
                    _ => Vec::new(),
                }
            }
            Event::Gone { key: Key::Pool(pool), .. } => vec![pool.clone()],
            Event::Gone { key: Key::NodeClass(class), .. } => of_class(class),
            _ => Vec::new(),
        }
    }

    fn ask_instance_types(&mut self, pool: &Name) {
        let world = self.engine.world();
        match world.pools.get(pool) {
            Some(pool) => {
                let class = world.node_classes.get(&pool.spec.template.spec.node_class);
                self.instance_types.ask(pool, class);
            }
            None => self.instance_types.forget(pool),
        }
    }

    fn decide(&mut self) {
        let (now, world) = (self.now(), self.engine.world());
        if !self.has_taken_over && world.is_complete() {
            self.provider.take_over(world.claims.values().map(|claim| &**claim));
            self.has_taken_over = true;
        }
        let orders = self.engine.decide(now);
        let Orders {
            actions,
            withdrawn,
            kubernetes_events,
            samples,
            settled,
            found,
            announced,
            shift_reports,
        } = orders;
        self.runbook_log.tell(&actions, self.engine.world());
        announced.iter().for_each(|instance| self.provider.hear(instance));
        withdrawn.into_iter().for_each(|solve| self.solver_pool.withdraw(solve));
        for action in actions {
            if let (Role::TerminationHandler, ActionKind::EvictPod { pod, .. }) =
                (self.engine.world().settings.role, &action.kind)
            {
                info!(target: "drain", "evicting pod {pod}");
            }
            if action.kind.info().is_bookkeeping {
                debug!(reason = %action.reason, "{}", words(&action));
            } else {
                info!(reason = %action.reason, "{}", words(&action));
            }
            match action.kind {
                ActionKind::Solve(request) => self.solver_pool.start(action.id, request, now),
                _ => self.executor_pool.carry_out(action),
            }
        }
        for kubernetes_event in &kubernetes_events {
            self.event_recorder.record(kubernetes_event, self.engine.world(), now);
        }
        self.metrics.count(samples);
        found.into_iter().for_each(|node| self.notices.find(node));
        settled.iter().for_each(|settled| self.notices.settle(settled));
        self.log_shifts(&shift_reports);
    }

    /// Says which kinds are not heard of, where that has changed.
    fn note_silence(&mut self) {
        // Where no kind of these is served, there is nothing to hear of.
        let is_always_watched =
            |kind: &Kind| !matches!(kind, Kind::PoolManifest | Kind::NodeClassSubnets);
        let stale = self.engine.world().stale_kinds(self.now());
        let silent: BTreeSet<Kind> = stale.filter(is_always_watched).collect();
        if silent != self.silent {
            self.health.silent(silent.clone());
            self.silent = silent;
        }
    }

    /// Lets go of what only a leader tells and acts on.
    fn stand_by(&mut self) {
        self.has_taken_over = false;
        let now = self.now();
        let settled = self.engine.stand_by(now);
        settled.iter().for_each(|settled| self.notices.settle(settled));
    }

    /// Writing the page of a large cluster takes a second, which a spot notice must not wait: it is
    /// written elsewhere, from a copy that shares all objects.
    fn answer(&mut self, scrape: Scrape) {
        let (metrics, failures, now) =
            (self.metrics.clone(), self.health.failures().clone(), self.now());
        for (queue, answers) in self.health.queues() {
            self.metrics.set_queue_answers(queue, answers);
        }
        let world = self.engine.world().clone();
        tokio::task::spawn_blocking(move || scrape.answer(&metrics, &world, &failures, now));
    }

    /// When to look again if nothing happens. Without the lead there is nothing to decide.
    fn wake_at(&self, leading: bool) -> Instant {
        let at_least_every = self.clock.look_every().min(BEAT_EVERY);
        let wait = match self.engine.next_wake() {
            Some(time) if leading && self.engine.world().is_complete() => {
                Duration::from_millis(time.since(self.now()).millis())
            }
            _ => at_least_every,
        };
        Instant::now() + wait.min(at_least_every)
    }

    fn log_shifts(&self, reports: &[ShiftReport]) {
        for report in reports {
            if report.is_warning() { warn!("{report}") } else { info!("{report}") }
        }
        let failures = self.health.failures();
        match self.engine.world().zonal_shift.state_failure() {
            Some(why) => drop(failures.failed(SHIFT_STATE, "denied", why)),
            None => failures.recovered(SHIFT_STATE),
        }
    }

    fn now(&self) -> Time {
        Time::from_millis(self.clock.now().as_millisecond())
    }
}
