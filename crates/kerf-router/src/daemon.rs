//! The daemon: a queue reader, one router, pages, a graceful stop.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kerf_aws::{Queues, SqsQueue};
use kerf_notices::message::Record;
use kerf_runtime::http::{BindError, Pages, Server};
use kerf_runtime::metrics::Registry;
use kerf_runtime::queue::{BatchLimits, Deliveries, Delivery, Reader, ReaderSettings};
use kerf_runtime::{FailureLog, Heartbeat};
use tokio::sync::watch;

use crate::metrics::{Metrics, QUEUE_ANSWERS};
use crate::{Routing, log};

/// The time for a batch: as a function's time-out, a sixth of the central queue's visibility.
const BATCH_TIME: Duration = Duration::from_secs(10);

/// Messages routed together. A queue hands out ten messages at a time, while a lookup takes two
/// hundred instances: a thousand events about a thousand unknown instances then cost five or six
/// lookups instead of a hundred. No message waits longer for others than the function's batch
/// window, half of the two seconds that are the target from event to cluster queue.
const TOGETHER: BatchLimits = BatchLimits {
    messages_max: 1_000,
    quiet: Duration::from_millis(50),
    wait_max: Duration::from_secs(1),
};

/// Between two beats of the loop that routes. It beats every few seconds, and a batch takes ten at
/// most: a loop that has not for a minute hangs.
const BEAT_WITHIN: Duration = Duration::from_secs(60);
const BEAT_EVERY: Duration = Duration::from_secs(5);

/// Before messages are tried again that failed for want of credentials that are accepted. Doubles
/// up to the second number, which is short beside the time within which the loop beats.
const CREDENTIALS_AFTER_FIRST: Duration = Duration::from_secs(1);
const CREDENTIALS_AFTER_LAST: Duration = Duration::from_secs(30);

/// What the daemon needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonSettings {
    /// The central queue.
    pub queue_url: String,
    /// Where `/metrics`, `/healthz` and `/readyz` listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Receivers that poll side by side.
    pub workers: usize,
}

/// A daemon that is ready to run.
pub struct Daemon {
    reader: Reader<SqsQueue>,
    deliveries: Deliveries,
    routing: Routing,
    registry: Registry,
    server: Server,
    beat: Heartbeat,
    rejected: Rejected,
}

/// Why credentials are not accepted now, if they are not.
type Rejected = Arc<Mutex<Option<String>>>;

impl Daemon {
    /// Opens the port; nothing is received yet.
    ///
    /// # Errors
    /// The port is taken or may not be used.
    pub async fn new(
        settings: DaemonSettings,
        queues: Queues,
        routing: Routing,
    ) -> Result<Self, BindError> {
        let DaemonSettings { queue_url, listen, workers } = settings;
        let settings = ReaderSettings {
            name: "the central queue".to_owned(),
            receivers: workers,
            // One batch is routed while the next is gathered.
            in_hand_max: 2 * TOGETHER.messages_max,
        };
        let queue = SqsQueue::at(queues, queue_url);
        let (reader, deliveries) = Reader::new(queue, settings, FailureLog::default());
        let registry = Registry::default();
        let (shown, health) = (registry.clone(), reader.health());
        let beat = Heartbeat::new("routing", BEAT_WITHIN);
        let (living, queue, scraped) = (beat.clone(), health.clone(), health.clone());
        // A queue that gives no answer is shown, and no reason to restart: that would not help.
        let alive = move || match living.check() {
            Ok(()) => Ok(format!("ok\n{}", line(queue.check()))),
            Err(why) => Err(format!("{why}\n")),
        };
        let rejected = Rejected::default();
        let why = Arc::clone(&rejected);
        let ready = move || {
            let why = why.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match why.map_or_else(|| health.check(), Err) {
                Ok(()) => Ok("ok\n".to_owned()),
                Err(why) => Err(format!("not ready: {why}\n")),
            }
        };
        let pages = Pages::default()
            .metrics(move || {
                let answers = f64::from(u8::from(scraped.check().is_ok()));
                shown.set(QUEUE_ANSWERS, Vec::new(), answers);
                std::future::ready(Some(shown.page().finish()))
            })
            .probe("/healthz", alive)
            .probe("/readyz", ready);
        let server = pages.bind(listen).await?;
        Ok(Self { reader, deliveries, routing, registry, server, beat, rejected })
    }

    /// Where `/metrics`, `/healthz` and `/readyz` are.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Sets for how long the central queue may be silent before the daemon is not ready.
    #[must_use]
    pub fn silent_after(self, silence: Duration) -> Self {
        self.reader.health().silent_after(silence);
        self
    }

    /// Runs until `stop` turns true. What has been received by then is routed and deleted first.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let Self { reader, deliveries, routing, registry, server, beat, rejected } = self;
        let front = Front { routing, metrics: Metrics::new(registry), rejected, beat };
        let routing = front.run(deliveries, stop.clone());
        let work = async { tokio::join!(reader.run(stop), routing) };
        let (_serving, until_done) = watch::channel(false);
        tokio::select! {
            _ = work => {}
            () = server.run(until_done) => {}
        }
    }
}

/// Routes what the reader brings.
struct Front {
    routing: Routing,
    metrics: Metrics,
    rejected: Rejected,
    beat: Heartbeat,
}

impl Front {
    /// Routes what comes until there can be no more, and has deleted what has its verdict.
    ///
    /// While credentials are not accepted nothing more is received, and what was is kept and tried
    /// again: given back, it would be handed out again and again until it is a dead letter.
    async fn run(mut self, mut deliveries: Deliveries, mut stop: watch::Receiver<bool>) {
        while let Some(mut batch) = next_batch(&mut deliveries, &mut self.routing, &self.beat).await
        {
            let mut wait = CREDENTIALS_AFTER_FIRST;
            while self.route(&mut batch).await == Credentials::Rejected && !*stop.borrow() {
                self.beat.note();
                deliveries.pause();
                tokio::select! {
                    _ = stop.wait_for(|stop| *stop) => {}
                    () = tokio::time::sleep(wait) => {}
                }
                wait = (wait * 2).min(CREDENTIALS_AFTER_LAST);
            }
            deliveries.resume();
        }
    }

    /// Routes a batch; what failed is left in it.
    async fn route(&mut self, batch: &mut Vec<Delivery>) -> Credentials {
        self.beat.note();
        let started = Instant::now();
        let record = |one: &Delivery| Record { id: one.id.clone(), body: one.body.clone() };
        let records = batch.iter().map(record).collect();
        let report = self.routing.route(records, BATCH_TIME).await;
        let took = started.elapsed();
        self.metrics.count(&report, took, self.routing.remembered_instances());
        log::report(&report, took);
        for (delivery, outcome) in std::mem::take(batch).into_iter().zip(&report.outcomes) {
            match outcome.verdict.is_failure() {
                true => batch.push(delivery),
                false => delivery.delete(),
            }
        }
        // Credentials that were renewed while it was routed have harmed nobody.
        let rejected = report.credentials.filter(|_| !batch.is_empty());
        let is_rejected = rejected.is_some();
        *self.rejected.lock().unwrap_or_else(PoisonError::into_inner) = rejected;
        self.metrics.set_credentials_rejected(is_rejected);
        if is_rejected { Credentials::Rejected } else { Credentials::Accepted }
    }
}

/// The next messages. Until they come clusters are searched for, so that no message has to wait for
/// that.
async fn next_batch(
    deliveries: &mut Deliveries,
    routing: &mut Routing,
    beat: &Heartbeat,
) -> Option<Vec<Delivery>> {
    // Dropped halfway it would lose what it has gathered.
    let mut next = pin!(deliveries.next_batch(TOGETHER));
    loop {
        beat.note();
        tokio::select! {
            batch = &mut next => return batch,
            () = routing.search_for_clusters() => {}
            () = tokio::time::sleep(BEAT_EVERY) => {}
        }
    }
}

fn line(check: Result<(), String>) -> String {
    check.err().map(|why| format!("{why}\n")).unwrap_or_default()
}

/// Whether what failed failed for its credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credentials {
    Accepted,
    Rejected,
}
