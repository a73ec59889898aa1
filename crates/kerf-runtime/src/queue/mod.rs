//! Reading a queue that delivers at least once.
//!
//! ```text
//!  Queue ── Reader: receivers ──► Deliveries ──► handler: decides, stores the effect
//!    ▲        │ back-off                            │
//!    └─ delete in batches ◄──── Delivery::delete ◄──┘   (dropped: it stays and comes again)
//! ```
//!
//! The reader decides nothing. **A message is deleted only after its handler said that its effect
//! is durable**; one that is dropped for any other reason is received again later.

mod batch;
mod deletions;
mod delivery;
mod health;
mod hiding;
mod pause;
mod reader;
#[cfg(test)]
mod tests;

use crate::failure_log::Kind;

pub use batch::BatchLimits;
pub use delivery::{Deliveries, Delivery};
pub use health::QueueHealth;
pub use reader::{Reader, ReaderSettings};

/// The most messages that one call receives or deletes; from SQS.
pub const MESSAGES_PER_CALL: usize = 10;

/// A received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The queue's id for it.
    pub id: String,
    /// What to delete it by.
    pub receipt: String,
    /// Its text.
    pub body: String,
}

/// A queue, as far as a reader needs to know it.
pub trait Queue: Send + Sync + 'static {
    /// Why a call failed.
    type Error: std::fmt::Display + Kind + Send;

    /// Receives up to [`MESSAGES_PER_CALL`] messages, waiting a while for the first.
    fn receive(&self) -> impl Future<Output = Result<Vec<Message>, Self::Error>> + Send;

    /// Deletes up to [`MESSAGES_PER_CALL`] messages by their receipts. Returns why each of those
    /// that stayed did.
    fn delete(
        &self,
        receipts: Vec<String>,
    ) -> impl Future<Output = Result<Vec<String>, Self::Error>> + Send;

    /// Keeps up to [`MESSAGES_PER_CALL`] received messages hidden from other readers for as long
    /// again as when they were received.
    fn hide(&self, _receipts: Vec<String>) -> impl Future<Output = Result<(), Self::Error>> + Send {
        async { Ok(()) }
    }
}
