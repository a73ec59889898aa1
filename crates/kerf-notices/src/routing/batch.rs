//! A batch of messages on its way from bodies to verdicts.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::backoff::{CallFailure, Rng};
use super::delivery::{Deliveries, EntryId, EntryOutcome, Outgoing, SendBatch};
use super::lookup::{Lookup, Lookups, TaggedInstance};
use super::memory::Ownership;
use super::queue_search::{Destination, FoundQueue, QueueQuery, QueueSearches};
use super::verdict::{Failure, Report, RoutingVerdict};
use super::{Router, Scope};
use crate::message::{self, Event, Reading, Record};
use crate::zonal_shift::UnixSeconds;

/// How long a record waits to learn which clusters there are. It then fails and comes again, and
/// the search goes on: what else is to be routed must not wait behind it.
const CLUSTERS_MS_MAX: u64 = 3_000;

/// How long a batch may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What is not done by then has failed.
    pub deadline_ms: u64,
    /// Any number; it spreads the waits of several routers apart.
    pub seed: u64,
    /// The time of day, by which events are too old; without it none is.
    pub time: Option<UnixSeconds>,
}

/// What to do next. The caller carries it out, tells the batch, and asks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Find these things out, at once and together.
    Ask(Ask),
    /// Send these, together.
    Send(Vec<SendBatch>),
    /// Wait until this moment.
    WaitUntil(u64),
    /// Every record has its verdict.
    Done,
}

/// Things to find out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Whose instances are.
    pub lookups: Vec<Lookup>,
    /// Where queues of clusters are.
    pub queues: Vec<QueueQuery>,
}

impl Ask {
    fn is_empty(&self) -> bool {
        self.lookups.is_empty() && self.queues.is_empty()
    }
}

/// Messages being routed together.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(super) items: Vec<Item>,
    pub(super) lookups: Lookups,
    pub(super) searches: QueueSearches,
    pub(super) deliveries: Deliveries,
    pub(super) report: Report,
    pub(super) denied: BTreeSet<String>,
    /// Until when records wait to learn which clusters there are.
    pub(super) clusters_until_ms: u64,
    /// Whether some do.
    pub(super) awaits_clusters: bool,
    deadline_ms: u64,
    /// Waiting for throttled services ends here: at half of the time there was.
    patient_until_ms: u64,
    rng: Rng,
}

/// One record on its way.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) message_id: String,
    pub(super) body: String,
    pub(super) event: Option<ItemEvent>,
    pub(super) progress: Progress,
}

/// The event of a record, and what is known of its instances so far.
#[derive(Clone, Debug)]
pub(super) struct ItemEvent {
    pub(super) event: Event<'static>,
    pub(super) scope: Arc<Scope>,
    pub(super) foreign: bool,
    /// In the order of the instances; shorter while some are being asked for.
    pub(super) owners: SmallVec<[Ownership; 1]>,
    /// Whether the cache was asked for all instances, so that hits are counted once.
    pub(super) counted: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Progress {
    /// Something is not known yet.
    Open,
    /// Its deliveries decide. The reason is what it ends with if none of them reaches a cluster.
    Sending(Range<usize>, Option<super::Unrouted>),
    Done(RoutingVerdict),
}

impl Batch {
    /// Reads the records. Nothing has been asked or sent yet.
    pub fn open(router: &mut Router, records: Vec<Record>, limits: Limits, now_ms: u64) -> Self {
        let deliveries = Deliveries::with_room_for(records.len());
        let read = |record| Item::read(router, record, limits.time);
        let items = records.into_iter().map(read).collect();
        let time_ms = limits.deadline_ms.saturating_sub(now_ms);
        let patient_until_ms = now_ms.saturating_add(time_ms / 2);
        Self {
            items,
            lookups: Lookups::default(),
            searches: QueueSearches::default(),
            deliveries,
            report: Report::default(),
            denied: BTreeSet::new(),
            clusters_until_ms: now_ms.saturating_add(CLUSTERS_MS_MAX).min(patient_until_ms),
            awaits_clusters: false,
            deadline_ms: limits.deadline_ms,
            patient_until_ms,
            rng: Rng::new(limits.seed),
        }
    }

    /// What to do next. Queries come first, all of them together; while some of them have to
    /// wait, what is known already is sent.
    pub fn step(&mut self, router: &mut Router, now_ms: u64) -> Step {
        if now_ms >= self.deadline_ms {
            self.give_up();
            return Step::Done;
        }
        self.advance(router, now_ms);
        let lookups = self.lookups.due(now_ms);
        let queues = self.searches.due(now_ms);
        let ask = Ask { lookups, queues };
        if !ask.is_empty() {
            self.report.lookup_calls += ask.lookups.len() as u64;
            self.report.queue_calls += ask.queues.len() as u64;
            return Step::Ask(ask);
        }
        let sends = self.deliveries.due(router.settings.batch_bytes_max, now_ms);
        if !sends.is_empty() {
            self.report.send_calls += sends.len() as u64;
            return Step::Send(sends);
        }
        let waits = [
            self.lookups.next_ms(),
            self.searches.next_ms(),
            self.deliveries.next_ms(),
            self.awaits_clusters.then(|| self.next_look_at_clusters_ms(router, now_ms)),
        ];
        match waits.into_iter().flatten().min() {
            Some(moment_ms) => Step::WaitUntil(moment_ms.min(self.deadline_ms)),
            None => Step::Done,
        }
    }

    /// When a record that waits for the clusters looks again, if no answer comes before.
    fn next_look_at_clusters_ms(&self, router: &Router, now_ms: u64) -> u64 {
        let search_ms = router.next_search_ms().filter(|moment_ms| *moment_ms > now_ms);
        self.clusters_until_ms.min(search_ms.unwrap_or(u64::MAX))
    }

    /// Whether a record waits to learn which clusters there are, so that
    /// [`Router::searches_due`] should be asked.
    pub fn awaits_clusters(&self) -> bool {
        self.awaits_clusters
    }

    /// Moves every record on that can move.
    fn advance(&mut self, router: &mut Router, now_ms: u64) {
        self.awaits_clusters = false;
        for (id, cluster) in self.deliveries.refreshing() {
            match self.searches.destination(router, &cluster, now_ms) {
                None => {}
                Some(Destination::Routes(routes)) => {
                    let url = routes.first().map(|route| Arc::clone(&route.url));
                    self.deliveries.refreshed(id, Ok(url));
                }
                Some(Destination::NoQueue(_)) => self.deliveries.refreshed(id, Ok(None)),
                Some(Destination::Failed(failure)) => {
                    self.deliveries.refreshed(id, Err(&failure));
                }
            }
        }
        for index in 0..self.items.len() {
            if matches!(self.items[index].progress, Progress::Open) {
                self.plan_item(router, index, now_ms);
            }
        }
    }

    /// The message behind an entry of a [`SendBatch`]. `None` for an id that was never given.
    pub fn outgoing(&self, id: EntryId) -> Option<Outgoing<'_>> {
        let entry = self.deliveries.entry(id)?;
        let item = self.items.get(entry.item)?;
        let event = item.event.as_ref()?;
        let body = entry.split.as_deref().unwrap_or_else(|| item.text());
        let source = event.event.kind.source();
        Some(Outgoing { body, event_id: event.event.id.as_ref(), source })
    }

    /// Takes in the answer to a lookup.
    pub fn learn_owners(
        &mut self,
        router: &mut Router,
        lookup: Lookup,
        answer: Result<Vec<TaggedInstance>, CallFailure>,
        now_ms: u64,
    ) {
        match answer {
            Ok(instances) => self.lookups.answered(router, lookup, instances, now_ms),
            Err(failure) => {
                self.note(&failure);
                let times = (now_ms, self.patient_until_ms);
                self.lookups.failed(lookup, &failure, &mut self.rng, times);
            }
        }
    }

    /// Takes in where a queue is, if it is there.
    pub fn learn_queue(
        &mut self,
        router: &mut Router,
        query: QueueQuery,
        answer: Result<impl Into<FoundQueue>, CallFailure>,
        now_ms: u64,
    ) {
        match answer {
            Ok(found) => self.searches.answered(router, &query, &found.into(), now_ms),
            Err(failure) => {
                self.note(&failure);
                let times = (now_ms, self.patient_until_ms);
                self.searches.failed(query, &failure, &mut self.rng, times);
            }
        }
    }

    /// Takes in what a queue said about the messages of one call. A message that the answer leaves
    /// out was not stored as far as anybody knows.
    pub fn learn_sent(
        &mut self,
        router: &mut Router,
        sent: &SendBatch,
        answer: Result<Vec<(EntryId, EntryOutcome)>, CallFailure>,
        now_ms: u64,
    ) {
        let outcomes = match answer {
            Ok(outcomes) => outcomes,
            Err(failure) => {
                self.note(&failure);
                return sent
                    .entries
                    .iter()
                    .for_each(|id| self.refused(router, *id, &failure, now_ms));
            }
        };
        for id in &sent.entries {
            let outcome = outcomes.iter().find(|(known, _)| known == id).map(|(_, said)| said);
            let failure = match outcome {
                Some(EntryOutcome::Accepted) => {
                    self.deliveries.accepted(router, *id, now_ms);
                    continue;
                }
                Some(EntryOutcome::Failed { sender_fault: true, why }) => {
                    CallFailure::Refused(why.clone())
                }
                Some(EntryOutcome::Failed { why, .. }) => CallFailure::Unavailable(why.clone()),
                None => {
                    CallFailure::Unavailable("the answer does not mention the message".to_owned())
                }
            };
            self.refused(router, *id, &failure, now_ms);
        }
    }

    fn refused(&mut self, router: &mut Router, id: EntryId, failure: &CallFailure, now_ms: u64) {
        let times = (now_ms, self.patient_until_ms);
        let ask_again = self.deliveries.refused(router, id, failure, &mut self.rng, times);
        if let Some(cluster) = ask_again {
            self.searches.forget(&cluster);
        }
    }

    pub(super) fn note(&mut self, failure: &CallFailure) {
        match failure {
            CallFailure::Denied(what) => _ = self.denied.insert(what.clone()),
            CallFailure::Credentials(why) => self.report.credentials = Some(why.clone()),
            _ => {}
        }
    }

    fn give_up(&mut self) {
        self.deliveries.expire();
        for item in &mut self.items {
            if matches!(item.progress, Progress::Open) {
                item.progress = Progress::Done(RoutingVerdict::Failed(Failure::OutOfTime));
            }
        }
    }

    /// The verdicts. Whatever is still under way has failed.
    pub fn finish(mut self) -> Report {
        self.give_up();
        let mut report = std::mem::take(&mut self.report);
        report.send_failures = self.deliveries.failures;
        report.denied = std::mem::take(&mut self.denied).into_iter().collect();
        let items = std::mem::take(&mut self.items);
        report.outcomes = items.into_iter().map(|item| item.outcome(&self.deliveries)).collect();
        report
    }
}

impl Item {
    fn read(router: &mut Router, record: Record, now: Option<UnixSeconds>) -> Self {
        let Record { id: message_id, body } = record;
        let settings = &router.settings;
        let (event, progress) = match message::read(&body) {
            Reading::Drop(why) => (None, Progress::Done(RoutingVerdict::Dropped(why))),
            Reading::Unreadable(why) if settings.poison_to_dlq => {
                (None, Progress::Done(RoutingVerdict::Failed(Failure::Poison(why))))
            }
            Reading::Unreadable(why) => (None, Progress::Done(RoutingVerdict::Poison(why))),
            Reading::Event(event) => {
                let allowed = match settings.forwarding.allows(event.kind) {
                    true => now.map_or(Ok(()), |now| event.timeliness(now)),
                    false => Err(message::Drop::NotForwarded),
                };
                let scope = router.scopes.of(event.account.as_deref(), event.region.as_deref());
                let foreign = router.scopes.is_foreign(&scope);
                // Parts that only the scope needed are not worth copying.
                let event = Event { account: None, region: None, time: None, ..event }.into_owned();
                let owners = SmallVec::new();
                let event = ItemEvent { event, scope, foreign, owners, counted: false };
                let progress = match allowed {
                    Ok(()) => Progress::Open,
                    Err(why) => Progress::Done(RoutingVerdict::Dropped(why)),
                };
                (Some(event), progress)
            }
        };
        Self { message_id, body, event, progress }
    }

    /// The event's own text, out of any wrapping.
    pub(super) fn text(&self) -> &str {
        let unwrapped = self.event.as_ref().and_then(|event| event.event.unwrapped.as_deref());
        unwrapped.unwrap_or(&self.body)
    }
}
