//! The running controller: one task owns the engine, everything else talks to it by channels.
//!
//! ```text
//!  watches ──news──► ┌───────────────┐ ──deeds──► executors ──┐
//!  cloud ───offers─► │ engine's task │ ──Events─► announcer   │
//!  queue ──notices─► │               │ ─outcomes► the queue   │
//!  /metrics ─asks──► └───────────────┘ ◄────── outcomes ──────┘
//! ```

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kerf_engine::action::Deed;
use kerf_engine::event::{Event, Key, Object, Outcome};
use kerf_engine::time::Time;
use kerf_engine::{Engine, Orders, Settings};
use kerf_model::pod::SpreadConstraint;
use kube::Client;
use tokio::sync::{mpsc, watch as signal};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{debug, info};

use crate::client::announce::Announcer;
use crate::client::cloud::Cloud;
use crate::client::execute::{Executor, Pace};
use crate::client::hands::{FINISH_WITHIN, Hands};
use crate::client::health::Health;
use crate::client::metrics::{Metrics, Scrape};
use crate::client::notices::{NoticeDelivery, Notices};
use crate::client::observe::{News, Observer};
use crate::client::offers::Offers;
use crate::client::shifts;
use crate::client::watch::{self, Kindred};
use crate::client::words::words;

/// Outcomes and offers that may wait for the engine; those who bring them wait beyond that.
const EVENTS_WAITING_MAX: usize = 1_024;
/// Events taken in before deciding again, so that a flood of news does not put decisions off.
const EVENTS_PER_DECISION_MAX: usize = 512;

/// How to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// Let calls that are under way come to their end.
    FinishFirst,
    /// Leave everything as it is: another may lead already.
    AtOnce,
}

/// What a controller needs.
pub struct Controller<C> {
    /// How to reach the API server.
    pub client: Client,
    /// The cloud.
    pub cloud: Arc<C>,
    /// How to decide. What the cloud must say (kinds, labels) is filled in.
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
    /// What the cloud announces about machines.
    pub notices: mpsc::Receiver<NoticeDelivery>,
}

impl<C: Cloud> Controller<C> {
    /// Runs until `stop` ends. Watches from the start and decides once `leading` is true.
    pub async fn run(
        self,
        mut leading: signal::Receiver<bool>,
        stop: impl Future<Output = Farewell>,
    ) {
        let node_classes = self.cloud.node_classes();
        let (news_sender, mut news) = mpsc::channel(watch::NEWS_WAITING_MAX);
        let (event_sender, mut events) = mpsc::channel(EVENTS_WAITING_MAX);
        let kindred = match self.default_spreads.is_empty() {
            true => Kindred::Ignored,
            false => Kindred::Watched,
        };
        let classes = node_classes.clone();
        let _watches = watch::start(&self.client, classes, kindred, &news_sender, &self.health);
        let _shifts = self.cloud.shifted_zones().map(|zones| shifts::tell(zones, &event_sender));
        let (announcer, announcing) = Announcer::start(self.client.clone());
        let (mut scrapes, mut notices) = (self.scrapes, self.notices);
        let mut desk = Desk {
            engine: Engine::new(with_cloud(self.settings, self.cloud.as_ref())),
            observer: Observer::new(self.cloud.label_rules(), &node_classes)
                .with_default_spreads(self.default_spreads),
            hands: Hands::new(
                Executor::new(self.client, self.cloud.clone(), self.pace),
                event_sender.clone(),
                self.metrics.clone(),
                self.cloud.name(),
            ),
            offers: Offers::new(self.cloud, event_sender),
            announcer,
            metrics: self.metrics,
            health: self.health,
            notices: Notices::default(),
        };
        let mut stop = std::pin::pin!(stop);
        let farewell = loop {
            let wake = desk.wake_at(*leading.borrow());
            tokio::select! {
                farewell = &mut stop => break farewell,
                Some(scrape) = scrapes.recv() => desk.answer(scrape),
                Ok(()) = leading.changed() => {}
                Some(news) = news.recv() => desk.learn(news),
                Some(event) = events.recv() => desk.take_in(event),
                Some(notice) = notices.recv() => desk.hear(notice),
                () = sleep_until(wake) => {}
            }
            desk.catch_up(&mut events, &mut news);
            if *leading.borrow() {
                desk.decide();
            }
        };
        if farewell == Farewell::AtOnce {
            return;
        }
        let Desk { hands, announcer, .. } = desk;
        hands.finish(&mut events).await;
        drop(announcer);
        let _ = timeout(FINISH_WITHIN, announcing).await;
    }
}

/// The settings with what only the cloud knows.
fn with_cloud(mut settings: Settings, cloud: &impl Cloud) -> Settings {
    let kinds = cloud.node_classes();
    settings.node_class_kinds = kinds.into_iter().map(|kind| (kind.group, kind.kind)).collect();
    settings.scheduler.label_rules = cloud.label_rules();
    settings.termination_grace_default = cloud.termination_grace_default();
    settings
}

/// Where the engine sits.
struct Desk<C> {
    engine: Engine,
    observer: Observer,
    hands: Hands<C>,
    offers: Offers<C>,
    announcer: Announcer,
    metrics: Metrics,
    health: Health,
    notices: Notices,
}

impl<C: Cloud> Desk<C> {
    /// Takes in what has come meanwhile, within reason.
    fn catch_up(&mut self, events: &mut mpsc::Receiver<Event>, news: &mut mpsc::Receiver<News>) {
        for _ in 0..EVENTS_PER_DECISION_MAX {
            if let Ok(event) = events.try_recv() {
                self.take_in(event);
            } else if let Ok(news) = news.try_recv() {
                self.learn(news);
            } else {
                break;
            }
        }
    }

    fn hear(&mut self, notice: NoticeDelivery) {
        let event = self.notices.take_in(notice);
        self.take_in(event);
    }

    fn learn(&mut self, news: News) {
        for event in self.observer.observe(news, self.engine.world()) {
            self.take_in(event);
        }
    }

    fn take_in(&mut self, event: Event) {
        let mut event = event;
        if let Event::Finished { outcome: Outcome::Stored(object), .. } = &mut event {
            self.observer.complete(object);
        }
        match &event {
            Event::Seen(object) => {
                if let Object::Pool(pool) = &**object {
                    self.offers.ask(pool);
                }
            }
            Event::Gone { key: Key::Pool(pool), .. } => self.offers.forget(pool),
            _ => {}
        }
        let listed = matches!(event, Event::Listed(_));
        self.engine.handle(event, now());
        if listed && self.engine.world().is_complete() {
            info!("the cluster is known; ready to decide");
            self.health.complete();
        }
    }

    fn decide(&mut self) {
        let now = now();
        let Orders { actions, announcements, measures, settled } = self.engine.decide(now);
        for action in actions {
            if is_bookkeeping(&action.deed) {
                debug!(reason = %action.reason, "{}", words(&action));
            } else {
                info!(reason = %action.reason, "{}", words(&action));
            }
            self.hands.carry_out(action);
        }
        for announcement in &announcements {
            self.announcer.announce(announcement, self.engine.world(), now);
        }
        self.metrics.count(measures);
        settled.iter().for_each(|settled| self.notices.tell(settled));
    }

    fn answer(&mut self, scrape: Scrape) {
        scrape.answer(&self.metrics, self.engine.world(), now());
    }

    /// When to look again if nothing happens. Without the lead there is nothing to decide.
    fn wake_at(&self, leading: bool) -> Instant {
        const AT_LEAST_EVERY: Duration = Duration::from_secs(60);
        let wait = match self.engine.next_wake() {
            Some(time) if leading && self.engine.world().is_complete() => {
                Duration::from_millis(time.since(now()).millis())
            }
            _ => AT_LEAST_EVERY,
        };
        Instant::now() + wait.min(AT_LEAST_EVERY)
    }
}

/// Whether a deed only notes what is known; the log tells of it when asked for details.
fn is_bookkeeping(deed: &Deed) -> bool {
    matches!(
        deed,
        Deed::PatchClaim { .. }
            | Deed::WriteClaimStatus { .. }
            | Deed::PatchNode { .. }
            | Deed::PatchPool { .. }
            | Deed::WritePoolStatus { .. }
            | Deed::ListMachines
    )
}

fn now() -> Time {
    Time::from_millis(jiff::Timestamp::now().as_millisecond())
}
