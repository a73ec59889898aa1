//! Receivers that poll side by side, with back-off, as long as there is room for what they bring.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::deletions::{Deletions, OnDeleted};
use super::delivery::{Backlog, Deliveries, Delivery, Receipt};
use super::hiding::InHand;
use super::pause::Pause;
use super::{MESSAGES_PER_CALL, Queue, QueueHealth};
use crate::failure_log::{FailureLog, Kind};

/// After a failed call, before the next. Doubles up to the second number.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LAST: Duration = Duration::from_secs(15);
/// A queue that asks for more patience is asked earlier all the same: a spot notice is worth two
/// minutes.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// How to read a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderSettings {
    /// What logs and probes call the queue: `the interruption queue`.
    pub name: String,
    /// Receivers that poll side by side while the queue holds more than one brings at a time. In
    /// quiet times one alone asks.
    pub receivers: usize,
    /// Messages received and neither deleted nor dropped; nothing more is received beyond that. At
    /// least [`MESSAGES_PER_CALL`].
    pub in_hand_max: usize,
}

/// Reads one queue for one handler.
pub struct Reader<Q> {
    queue: Arc<Q>,
    settings: ReaderSettings,
    failures: FailureLog,
    health: QueueHealth,
    on_deleted: OnDeleted,
    messages: mpsc::Sender<Delivery>,
    backlog: Backlog,
    pause: Pause,
    /// How often messages in hand are hidden again.
    hides_every: Option<Duration>,
}

impl<Q: Queue> Reader<Q> {
    /// A reader, and where its handler takes messages from. Failures are logged to `failures`.
    pub fn new(queue: Q, settings: ReaderSettings, failures: FailureLog) -> (Self, Deliveries) {
        let settings =
            ReaderSettings { in_hand_max: settings.in_hand_max.max(MESSAGES_PER_CALL), ..settings };
        let (messages, taken) = mpsc::channel(settings.in_hand_max);
        let (backlog, pause) = (Backlog::default(), Pause::default());
        let deliveries = Deliveries::new(taken, backlog.clone(), pause.clone());
        let reader = Self {
            queue: Arc::new(queue),
            health: QueueHealth::new(&settings.name),
            settings,
            failures,
            on_deleted: Arc::new(|_| {}),
            messages,
            backlog,
            pause,
            hides_every: None,
        };
        (reader, deliveries)
    }

    /// Calls back with the number of messages deleted, each time some were.
    #[must_use]
    pub fn on_deleted(mut self, call: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_deleted = Arc::new(call);
        self
    }

    /// Keeps messages hidden from other readers for as long as they are in hand: half of the time
    /// for which the queue hides them is often enough.
    #[must_use]
    pub fn hiding_again(mut self, every: Duration) -> Self {
        self.hides_every = Some(every);
        self
    }

    /// Whether the queue answers, for a probe.
    pub fn health(&self) -> QueueHealth {
        self.health.clone()
    }

    /// Reads until `stop` turns true or the handler is gone, and ends once every message in hand was
    /// deleted or dropped.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let (deletions, receipts) = mpsc::unbounded_channel();
        let in_hand = Arc::new(AtomicUsize::new(0));
        let room = Arc::new(Semaphore::new(self.settings.in_hand_max));
        let deleting = Deletions {
            queue: Arc::clone(&self.queue),
            receipts,
            in_hand: Arc::clone(&in_hand),
            failures: self.failures.clone(),
            what: format!("{}: deleting messages", self.settings.name),
            on_deleted: Arc::clone(&self.on_deleted),
        };
        self.health.note();
        let hidden = self.hides_every.map(|every| (every, InHand::default()));
        let mut receivers = JoinSet::new();
        for number in 0..self.settings.receivers.max(1) {
            let receiver = Receiver {
                is_first: number == 0,
                queue: Arc::clone(&self.queue),
                what: format!("{}: receiving messages", self.settings.name),
                failures: self.failures.clone(),
                health: self.health.clone(),
                room: Arc::clone(&room),
                in_hand: Arc::clone(&in_hand),
                messages: self.messages.clone(),
                deletions: deletions.clone(),
                backlog: self.backlog.clone(),
                pause: self.pause.clone(),
                hidden: hidden.as_ref().map(|(_, hidden)| hidden.clone()),
            };
            receivers.spawn(receiver.run(stop.clone()));
        }
        // Both channels end with the last receiver and the last message in hand.
        drop((self.messages, deletions));
        let receiving = async {
            receivers.join_all().await;
            self.health.ends();
        };
        let hiding = async {
            match hidden {
                None => std::future::pending().await,
                Some((every, hidden)) => {
                    let what = format!("{}: hiding messages", self.settings.name);
                    let (queue, failures) = (Arc::clone(&self.queue), self.failures.clone());
                    hidden.hide(queue, every, failures, what).await;
                }
            }
        };
        tokio::select! {
            () = hiding => {}
            _ = async { tokio::join!(receiving, deleting.run()) } => {}
        }
    }
}

/// A call that failed, which was logged.
struct Failed {
    /// How long the queue does not want to be asked.
    retry_after: Duration,
}

/// One of the receivers.
struct Receiver<Q> {
    /// Whether it asks always; the others do while one brings as much as it can.
    is_first: bool,
    queue: Arc<Q>,
    what: String,
    failures: FailureLog,
    health: QueueHealth,
    room: Arc<Semaphore>,
    in_hand: Arc<AtomicUsize>,
    messages: mpsc::Sender<Delivery>,
    deletions: mpsc::UnboundedSender<Receipt>,
    backlog: Backlog,
    pause: Pause,
    hidden: Option<InHand>,
}

impl<Q: Queue> Receiver<Q> {
    async fn run(self, mut stop: watch::Receiver<bool>) {
        let (mut wait, mut expects_more) = (RETRY_FIRST, false);
        loop {
            // A poll that is dropped leaves its messages hidden until they time out, and then they
            // come again: at least once holds.
            let received = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                () = self.messages.closed() => break,
                received = self.receive(expects_more) => received,
            };
            let brought = received.as_ref().map_or(0, |(count, _)| *count);
            let is_full = brought == MESSAGES_PER_CALL;
            self.backlog.change(std::mem::replace(&mut expects_more, is_full), is_full);
            let deliveries = match received {
                Ok((_, deliveries)) => deliveries,
                Err(Failed { retry_after }) => {
                    tokio::select! {
                        _ = stop.wait_for(|stop| *stop) => break,
                        () = sleep(wait.max(retry_after)) => {}
                    }
                    wait = (wait * 2).min(RETRY_LAST);
                    continue;
                }
            };
            wait = RETRY_FIRST;
            for delivery in deliveries {
                // There is room for all that are in hand, so this never waits.
                if self.messages.send(delivery).await.is_err() {
                    break;
                }
            }
        }
        self.backlog.change(expects_more, false);
    }

    /// Waits until it is needed and for room, then receives. Failures are logged.
    async fn receive(&self, expects_more: bool) -> Result<(usize, Vec<Delivery>), Failed> {
        if !self.is_first && !expects_more {
            self.backlog.begins().await;
        }
        if self.pause.is_set() {
            // A queue that nobody asks owes no answer.
            self.health.ends();
            self.pause.over().await;
            self.health.note();
        }
        let places = u32::try_from(MESSAGES_PER_CALL).unwrap_or(u32::MAX);
        let room = match Arc::clone(&self.room).try_acquire_many_owned(places) {
            Ok(room) => room,
            Err(_) => {
                let room = Arc::clone(&self.room).acquire_many_owned(places).await;
                let room = room.map_err(|_| Failed { retry_after: Duration::ZERO })?;
                // Nothing was asked meanwhile: the queue's silence starts here.
                self.health.note();
                room
            }
        };
        let messages = match self.queue.receive().await {
            Ok(messages) => messages,
            Err(error) => {
                self.failures.failed(&self.what, error.kind(), error.to_string());
                self.health.failed(error.to_string());
                let retry_after = error.retry_after().unwrap_or_default().min(RETRY_AFTER_MAX);
                return Err(Failed { retry_after });
            }
        };
        self.health.note();
        self.failures.recovered(&self.what);
        let (count, mut room) = (messages.len(), room);
        let deliver = |message| {
            let permit: Option<OwnedSemaphorePermit> = room.split(1);
            let hidden = self.hidden.as_ref();
            Delivery::new(message, permit, &self.in_hand, hidden, &self.deletions)
        };
        Ok((count, messages.into_iter().map(deliver).collect()))
    }
}
