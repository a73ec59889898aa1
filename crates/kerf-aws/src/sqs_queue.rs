//! An SQS queue as a reader reads it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kerf_runtime::Kind;
use kerf_runtime::queue::{Message, Queue};

use crate::{CallError, Queues, Result};

/// A long poll, as long as SQS allows.
const POLL: Duration = Duration::from_secs(20);

/// One queue, by its URL or by a name it is found under once it is there.
#[derive(Debug)]
pub struct SqsQueue {
    queues: Queues,
    name: Option<String>,
    url: Mutex<Option<String>>,
    hidden_for: Option<Duration>,
}

impl SqsQueue {
    /// The queue at this URL.
    pub fn at(queues: Queues, url: String) -> Self {
        Self { queues, name: None, url: Mutex::new(Some(url)), hidden_for: None }
    }

    /// The queue of this name, which need not be there yet and may be deleted and made again.
    pub fn named(queues: Queues, name: String) -> Self {
        Self { queues, name: Some(name), url: Mutex::new(None), hidden_for: None }
    }

    /// Hides received messages from other readers for so long, instead of as the queue is set to.
    #[must_use]
    pub fn hiding_for(mut self, hidden_for: Duration) -> Self {
        self.hidden_for = Some(hidden_for);
        self
    }

    async fn url(&self) -> Result<String> {
        let known = self.with_url(|url| url.clone());
        let (None, Some(name)) = (&known, &self.name) else {
            return Ok(known.unwrap_or_default());
        };
        let missing = || CallError::NoSuchQueue {
            action: "sqs:GetQueueUrl",
            resource: format!("{name} in this account and region"),
        };
        let found = self.queues.url(name).await?.ok_or_else(missing)?;
        self.with_url(|url| *url = Some(found.clone()));
        Ok(found)
    }

    fn with_url<T>(&self, look: impl FnOnce(&mut Option<String>) -> T) -> T {
        look(&mut self.url.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Queue for SqsQueue {
    type Error = CallError;

    async fn receive(&self) -> Result<Vec<Message>> {
        let url = self.url().await?;
        let received = match self.hidden_for {
            Some(hidden_for) => self.queues.receive_hidden(&url, POLL, hidden_for).await,
            None => self.queues.receive(&url, POLL).await,
        };
        if matches!(received, Err(CallError::NoSuchQueue { .. })) && self.name.is_some() {
            // It was deleted; another of the name may be made, with another URL.
            self.with_url(|url| *url = None);
        }
        received
    }

    async fn delete(&self, receipts: Vec<String>) -> Result<Vec<String>> {
        let url = self.url().await?;
        let refusals = self.queues.delete(&url, receipts).await?;
        Ok(refusals.into_iter().map(|refusal| refusal.why).collect())
    }

    async fn hide(&self, receipts: Vec<String>) -> Result<()> {
        let Some(hidden_for) = self.hidden_for else { return Ok(()) };
        self.queues.hide(&self.url().await?, receipts, hidden_for).await
    }
}

impl Kind for CallError {
    fn kind(&self) -> &'static str {
        match self {
            Self::Throttled { .. } => "throttled",
            Self::Credentials { .. } => "credentials",
            Self::Denied { .. } => "denied",
            Self::NoSuchQueue { .. } => "no such queue",
            Self::Unavailable { .. } => "unavailable",
            Self::Refused { .. } => "refused",
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Throttled { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
