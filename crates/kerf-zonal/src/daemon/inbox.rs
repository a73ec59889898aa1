//! Where announcements come from, and how they go.

use std::sync::Arc;

use kerf_aws::{Queues, Result};
use kerf_runtime::queue::{Delivery, Message};
use tokio::sync::{Mutex, mpsc};

use crate::daemon::complaints::Complaints;
use crate::daemon::poller::{Silence, poll};

/// Where announcements come from.
#[derive(Clone, Debug)]
pub enum Inbox {
    /// A queue that nobody else reads.
    Queue {
        /// The account's queues.
        queues: Queues,
        /// Its address.
        url: String,
    },
    /// The reader of a queue that holds other messages, too. Copies share it.
    HandedOn(Arc<Mutex<mpsc::Receiver<Delivery>>>),
}

/// An announcement at hand.
#[derive(Debug)]
pub(crate) enum Arrived {
    Received(Message),
    HandedOn(Delivery),
}

impl Inbox {
    /// What a reader of another queue hands on.
    pub fn handed_on(messages: mpsc::Receiver<Delivery>) -> Self {
        Self::HandedOn(Arc::new(Mutex::new(messages)))
    }

    /// Brings messages until nobody takes them.
    pub(super) async fn watch(
        self,
        silence: Arc<Silence>,
        complaints: Complaints,
        messages: mpsc::Sender<Vec<Arrived>>,
    ) {
        match self {
            Inbox::Queue { queues, url } => poll(queues, url, silence, complaints, messages).await,
            Inbox::HandedOn(inbox) => {
                let mut inbox = inbox.lock().await;
                while let Some(message) = inbox.recv().await {
                    if messages.send(vec![Arrived::HandedOn(message)]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Deletes what has had its effect. How many stayed, and why the first did.
    pub(super) async fn delete(&self, settled: Vec<Arrived>) -> Result<Option<(usize, String)>> {
        let mut receipts = Vec::new();
        for arrived in settled {
            match arrived {
                Arrived::Received(message) => receipts.push(message.receipt),
                Arrived::HandedOn(message) => message.delete(),
            }
        }
        let Inbox::Queue { queues, url } = self else { return Ok(None) };
        if receipts.is_empty() {
            return Ok(None);
        }
        let refusals = queues.delete(url, receipts).await?;
        let count = refusals.len();
        Ok(refusals.into_iter().next().map(|refusal| (count, refusal.why)))
    }
}

impl Arrived {
    /// Its text.
    pub(super) fn body(&self) -> &str {
        match self {
            Arrived::Received(message) => &message.body,
            Arrived::HandedOn(message) => &message.body,
        }
    }
}
