//! Receiving messages from the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use kerf_aws::{CallError, Queues};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::daemon::complaints::{Complaints, Kind};
use crate::daemon::inbox::Arrived;

/// What a failing queue is complained of as.
pub(crate) const WHAT: &str = "queue";

/// A long poll, as long as SQS allows.
const POLL: Duration = Duration::from_secs(20);

/// After a failed call, before the next. Doubles up to the second number.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LAST: Duration = Duration::from_secs(15);

/// Without an answer for this long the process calls itself unhealthy: three polls.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// How long the queue has not answered.
#[derive(Debug)]
pub(crate) struct Silence {
    started: Instant,
    /// Milliseconds after the start; negative while nobody polls.
    answered: AtomicI64,
}

impl Silence {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), answered: AtomicI64::new(-1) }
    }

    fn note(&self) {
        let now = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.answered.store(now, Ordering::Relaxed);
    }

    /// What is wrong, if anything.
    pub(crate) fn complaint(&self) -> Option<String> {
        let answered = u64::try_from(self.answered.load(Ordering::Relaxed)).ok()?;
        let silent = self.started.elapsed().saturating_sub(Duration::from_millis(answered));
        (silent > SILENCE_MAX)
            .then(|| format!("the queue has not answered for {} s", silent.as_secs()))
    }
}

/// Receives messages and hands them on, until nobody takes them. Whoever takes them sets the pace:
/// nothing is received while an effect cannot be stored, or messages would end as dead letters.
pub(crate) async fn poll(
    queues: Queues,
    url: String,
    silence: Arc<Silence>,
    complaints: Complaints,
    messages: mpsc::Sender<Vec<Arrived>>,
) {
    let mut wait = RETRY_FIRST;
    silence.note();
    while let Ok(turn) = messages.reserve().await {
        match queues.receive(&url, POLL).await {
            Ok(received) => {
                silence.note();
                complaints.settle(WHAT);
                wait = RETRY_FIRST;
                if !received.is_empty() {
                    turn.send(received.into_iter().map(Arrived::Received).collect());
                }
            }
            Err(error) => {
                let is_denied = matches!(error, CallError::Denied { .. });
                let kind = if is_denied { Kind::Denied } else { Kind::Failing };
                complaints.complain(WHAT, kind, format!("no message is received: {error}"));
                drop(turn);
                sleep(wait).await;
                wait = (wait * 2).min(RETRY_LAST);
            }
        }
    }
}
