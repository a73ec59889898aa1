//! The daemon: receivers, one router, deletions, a graceful stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kerf_aws::{Message, Queues};
use kerf_notices::message::Record;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use crate::gather::{Expecting, TOGETHER_MAX, gather};
use crate::{Log, Metrics, Routing, web};

/// The time for a batch: as a function's time-out, a sixth of the central queue's visibility.
const BATCH_TIME: Duration = Duration::from_secs(10);

/// As many messages as one call receives.
const FULL: usize = 10;

/// A long poll, as long as SQS allows.
const POLL: Duration = Duration::from_secs(20);

/// After a failed call, before the next. Doubles up to the second number.
const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_LAST: Duration = Duration::from_secs(15);

/// Without a successful receive for this long the daemon calls itself unhealthy: three polls.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// What the daemon needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonSettings {
    /// The central queue.
    pub queue_url: String,
    /// Where `/metrics` and `/healthz` listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Receivers that poll side by side.
    pub workers: usize,
}

/// Why the daemon could not start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The port is taken, or not allowed. Choose another.
    #[error("could not listen on {listen}: {source}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Whether messages can be received.
#[derive(Debug)]
pub(crate) struct Health {
    started: Instant,
    received_ms: AtomicU64,
}

impl Health {
    fn new() -> Self {
        Self { started: Instant::now(), received_ms: AtomicU64::new(0) }
    }

    fn note(&self) {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.received_ms.store(now_ms, Ordering::Relaxed);
    }

    /// What is wrong, if anything.
    pub(crate) fn complaint(&self) -> Option<String> {
        let last = Duration::from_millis(self.received_ms.load(Ordering::Relaxed));
        let silent = self.started.elapsed().saturating_sub(last);
        (silent > SILENCE_MAX)
            .then(|| format!("the central queue has not answered for {} s", silent.as_secs()))
    }
}

/// A daemon that is ready to run.
#[derive(Debug)]
pub struct Daemon {
    settings: DaemonSettings,
    queues: Queues,
    routing: Routing,
    log: Log,
    metrics: Arc<Metrics>,
    listener: TcpListener,
}

impl Daemon {
    /// Opens the port; nothing is received yet.
    pub async fn new(
        settings: DaemonSettings,
        queues: Queues,
        routing: Routing,
        log: Log,
    ) -> Result<Self, DaemonError> {
        let listen = settings.listen;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|source| DaemonError::Listen { listen, source })?;
        let metrics = Arc::new(Metrics::default());
        Ok(Self { settings, queues, routing, log, metrics, listener })
    }

    /// Where `/metrics` and `/healthz` are.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Runs until `stop` turns true. What has been received by then is routed and deleted first.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let Self { settings, queues, mut routing, log, metrics, listener } = self;
        let health = Arc::new(Health::new());
        let web = tokio::spawn(web::serve(listener, Arc::clone(&metrics), Arc::clone(&health)));
        let (sender, mut receiver) = mpsc::channel(TOGETHER_MAX);
        let expecting = Arc::new(Expecting::default());
        for _ in 0..settings.workers.max(1) {
            let receiver = Receiver {
                queues: queues.clone(),
                url: settings.queue_url.clone(),
                health: Arc::clone(&health),
                expecting: Arc::clone(&expecting),
                sender: sender.clone(),
                log,
            };
            tokio::spawn(receiver.run(stop.clone()));
        }
        drop(sender);
        // The channel ends once every receiver has stopped and everything received was taken.
        while let Some(messages) = gather(&mut receiver, &expecting).await {
            let started = Instant::now();
            let record = |one: &Message| Record { id: one.id.clone(), body: one.body.clone() };
            let records = messages.iter().map(record).collect();
            let report = routing.route(records, BATCH_TIME).await;
            let took = started.elapsed();
            metrics.count(&report, took, routing.remembered_instances());
            log.report(&report, took.as_millis());
            let settled = messages.into_iter().zip(&report.outcomes);
            let settled = settled.filter(|(_, outcome)| !outcome.verdict.is_failure());
            let receipts: Vec<_> = settled.map(|(message, _)| message.receipt).collect();
            delete(&queues, &settings.queue_url, &receipts, log).await;
        }
        web.abort();
    }
}

/// Receives messages and hands them on.
struct Receiver {
    queues: Queues,
    url: String,
    health: Arc<Health>,
    expecting: Arc<Expecting>,
    sender: mpsc::Sender<Message>,
    log: Log,
}

impl Receiver {
    /// Runs until told to stop.
    async fn run(self, mut stop: watch::Receiver<bool>) {
        let (mut wait, mut expects) = (RETRY_FIRST, false);
        while !*stop.borrow() {
            // A poll that is dropped leaves its messages invisible until they time out, and then
            // they come again: at least once holds.
            let answer = tokio::select! {
                _ = stop.changed() => break,
                answer = self.queues.receive(&self.url, POLL) => answer,
            };
            let now = answer.as_ref().is_ok_and(|messages| messages.len() == FULL);
            self.expecting.change(std::mem::replace(&mut expects, now), now);
            match answer {
                Ok(messages) => {
                    self.health.note();
                    wait = RETRY_FIRST;
                    for message in messages {
                        if self.sender.send(message).await.is_err() {
                            return;
                        }
                    }
                }
                Err(error) => {
                    self.log.problem(&error.to_string());
                    tokio::select! {
                        _ = stop.changed() => break,
                        () = tokio::time::sleep(wait) => {}
                    }
                    wait = (wait * 2).min(RETRY_LAST);
                }
            }
        }
        self.expecting.change(expects, false);
    }
}

/// Deletes what has its verdict. What stays comes again and is then suppressed.
async fn delete(queues: &Queues, url: &str, receipts: &[String], log: Log) {
    let calls = receipts.chunks(10).map(|chunk| queues.delete(url, chunk.to_vec()));
    for answer in futures_util::future::join_all(calls).await {
        match answer {
            Ok(refusals) => {
                refusals.iter().for_each(|one| log.problem(&format!("not deleted: {}", one.why)));
            }
            Err(error) => log.problem(&error.to_string()),
        }
    }
}
