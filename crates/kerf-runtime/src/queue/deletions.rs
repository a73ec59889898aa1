//! Deleting what is done with, several messages a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::delivery::Receipt;
use super::{MESSAGES_PER_CALL, Queue};
use crate::failure_log::{FailureLog, Kind};

/// How long a message waits for others to be deleted in the same call. Nobody waits for it, and it
/// is short beside the time for which a received message is hidden.
const COMPANY_WITHIN: Duration = Duration::from_millis(20);
/// Calls under way at once: a thousand messages that are done with together are gone in seven
/// rounds.
const CALLS_AT_ONCE: usize = 16;

/// Called with the number of messages that were deleted.
pub(super) type OnDeleted = Arc<dyn Fn(usize) + Send + Sync>;

/// Deletes messages as their handlers are done with them.
pub(super) struct Deletions<Q> {
    pub(super) queue: Arc<Q>,
    pub(super) receipts: mpsc::UnboundedReceiver<Receipt>,
    pub(super) in_hand: Arc<AtomicUsize>,
    pub(super) failures: FailureLog,
    /// What failures are logged as.
    pub(super) what: String,
    pub(super) on_deleted: OnDeleted,
}

impl<Q: Queue> Deletions<Q> {
    /// Runs until no handler has a message in hand and none will get one.
    pub(super) async fn run(mut self) {
        let mut calls = JoinSet::new();
        while let Some(batch) = self.next_batch(&calls).await {
            while calls.len() >= CALLS_AT_ONCE {
                calls.join_next().await;
            }
            while calls.try_join_next().is_some() {}
            let call = Call {
                queue: Arc::clone(&self.queue),
                failures: self.failures.clone(),
                what: self.what.clone(),
                on_deleted: Arc::clone(&self.on_deleted),
            };
            calls.spawn(call.delete(batch));
        }
        calls.join_all().await;
    }

    /// The next receipts, as many as a call takes. Nobody is waited for where no other message is
    /// in hand.
    async fn next_batch(&mut self, calls: &JoinSet<()>) -> Option<Vec<Receipt>> {
        let mut batch = vec![self.receipts.recv().await?];
        let deadline = Instant::now() + COMPANY_WITHIN;
        while batch.len() < MESSAGES_PER_CALL {
            let is_last = calls.is_empty() && self.in_hand.load(Ordering::Relaxed) <= batch.len();
            if is_last {
                break;
            }
            match timeout_at(deadline, self.receipts.recv()).await {
                Ok(Some(receipt)) => batch.push(receipt),
                Ok(None) | Err(_) => break,
            }
        }
        Some(batch)
    }
}

/// One call.
struct Call<Q> {
    queue: Arc<Q>,
    failures: FailureLog,
    what: String,
    on_deleted: OnDeleted,
}

impl<Q: Queue> Call<Q> {
    /// What stays by mistake comes again and changes nothing. The places of the messages are free
    /// when this ends.
    async fn delete(self, batch: Vec<Receipt>) {
        let texts: Vec<String> = batch.iter().map(|receipt| receipt.text.clone()).collect();
        let refusals = match self.queue.delete(texts).await {
            Ok(refusals) => refusals,
            Err(error) => {
                self.failures.failed(&self.what, error.kind(), error.to_string());
                return;
            }
        };
        (self.on_deleted)(batch.len().saturating_sub(refusals.len()));
        match refusals.first() {
            None => self.failures.recovered(&self.what),
            Some(why) => {
                let message = format!("{} messages stayed: {why}", refusals.len());
                self.failures.failed(&self.what, "refused", message);
            }
        }
    }
}
