//! Keeping messages hidden while their handlers have them, so that no other reader starts on them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::{MESSAGES_PER_CALL, Queue};
use crate::failure_log::{FailureLog, Kind};

/// The receipts of messages in hand. Copies share them.
#[derive(Clone, Debug, Default)]
pub(super) struct InHand(Arc<Mutex<Receipts>>);

#[derive(Debug, Default)]
struct Receipts {
    last_number: u64,
    by_number: BTreeMap<u64, String>,
}

/// A receipt among them; taken out when dropped.
#[derive(Debug)]
pub(super) struct Held {
    all: InHand,
    number: u64,
}

impl InHand {
    /// Keeps a message hidden until what is returned is dropped.
    pub(super) fn hold(&self, receipt: &str) -> Held {
        let mut receipts = self.receipts();
        receipts.last_number += 1;
        let number = receipts.last_number;
        receipts.by_number.insert(number, receipt.to_owned());
        Held { all: self.clone(), number }
    }

    fn receipts(&self) -> MutexGuard<'_, Receipts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hides all of them again, that often. Never ends.
    pub(super) async fn hide<Q: Queue>(
        self,
        queue: Arc<Q>,
        every: Duration,
        failures: FailureLog,
        what: String,
    ) {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let receipts: Vec<String> = self.receipts().by_number.values().cloned().collect();
            for chunk in receipts.chunks(MESSAGES_PER_CALL) {
                // One that was deleted meanwhile is refused, which changes nothing.
                match queue.hide(chunk.to_vec()).await {
                    Ok(()) => failures.recovered(&what),
                    Err(error) => drop(failures.failed(&what, error.kind(), error.to_string())),
                }
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.receipts().by_number.remove(&self.number);
    }
}
