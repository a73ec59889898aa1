//! Messages on their way to a handler, and back as deletions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use super::Message;
use super::hiding::{Held, InHand};
use super::pause::Pause;

/// A message that its handler has. Dropped, it stays in the queue and comes again.
#[derive(Debug)]
pub struct Delivery {
    /// The queue's id for it.
    pub id: String,
    /// Its text.
    pub body: String,
    receipt: Receipt,
    deletions: mpsc::UnboundedSender<Receipt>,
}

/// What to delete a message by, and its place among those in hand.
#[derive(Debug)]
pub(super) struct Receipt {
    pub(super) text: String,
    place: Place,
}

/// A place among the messages in hand, free again when dropped.
#[derive(Debug)]
struct Place {
    permit: Option<OwnedSemaphorePermit>,
    in_hand: Arc<AtomicUsize>,
    _held: Option<Held>,
}

impl Delivery {
    pub(super) fn new(
        message: Message,
        permit: Option<OwnedSemaphorePermit>,
        in_hand: &Arc<AtomicUsize>,
        hidden: Option<&InHand>,
        deletions: &mpsc::UnboundedSender<Receipt>,
    ) -> Self {
        in_hand.fetch_add(1, Ordering::Relaxed);
        let Message { id, receipt, body } = message;
        let held = hidden.map(|hidden| hidden.hold(&receipt));
        let place = Place { permit, in_hand: Arc::clone(in_hand), _held: held };
        let receipt = Receipt { text: receipt, place };
        Self { id, body, receipt, deletions: deletions.clone() }
    }

    /// The effect of the message is durable, or it has none: the reader deletes it.
    pub fn delete(self) {
        // Bounded by the places; a reader that ended already has its messages delivered again.
        let _ = self.deletions.send(self.receipt);
    }

    /// The message goes to another handler with a bound of its own, and the reader no longer waits
    /// for it before it receives more.
    #[must_use]
    pub fn handed_on(mut self) -> Self {
        self.receipt.place.permit = None;
        self
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.in_hand.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where a handler takes messages from.
#[derive(Debug)]
pub struct Deliveries {
    pub(super) messages: mpsc::Receiver<Delivery>,
    pub(super) backlog: Backlog,
    pause: Pause,
}

/// How many receivers were last handed as many messages as a call can carry: the queue holds more,
/// and their next answer will bring it, however slow the queue is.
#[derive(Clone, Debug)]
pub(super) struct Backlog(Arc<watch::Sender<usize>>);

impl Default for Backlog {
    fn default() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }
}

impl Backlog {
    /// What a receiver expects changes.
    pub(super) fn change(&self, before: bool, now: bool) {
        match (before, now) {
            (false, true) => self.0.send_modify(|receivers| *receivers += 1),
            (true, false) => self.0.send_modify(|receivers| *receivers -= 1),
            _ => {}
        }
    }

    pub(super) fn is_any(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until there is one.
    pub(super) async fn begins(&self) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|receivers| *receivers > 0).await;
    }
}

impl Deliveries {
    pub(super) fn new(messages: mpsc::Receiver<Delivery>, backlog: Backlog, pause: Pause) -> Self {
        Self { messages, backlog, pause }
    }

    /// Has the reader receive nothing more until [`Deliveries::resume`]. What it has received is
    /// still delivered.
    pub fn pause(&self) {
        self.pause.set(true);
    }

    /// Has the reader go on.
    pub fn resume(&self) {
        self.pause.set(false);
    }

    /// The next message. `None` once the reader has stopped and everything was taken.
    pub async fn recv(&mut self) -> Option<Delivery> {
        self.messages.recv().await
    }
}

impl From<mpsc::Receiver<Delivery>> for Deliveries {
    /// Messages that another handler hands on.
    fn from(messages: mpsc::Receiver<Delivery>) -> Self {
        Self::new(messages, Backlog::default(), Pause::default())
    }
}
