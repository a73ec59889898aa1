//! Receives messages, hands on what they announce, and deletes what has its outcome.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kerf_aws::{CallError, HandedOn, Message, Queues};
use kerf_engine::notice::NoticeOutcome;
use kerf_engine::sample::Sample;
use kerf_engine::time::{Span, Time};
use kerf_kube::{Metrics, NoticeDelivery};
use kerf_notices::zonal_shift::UnixSeconds;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use crate::complaints::Complaints;
use crate::meaning::{Meaning, Understood, understand};

/// A long poll, as long as SQS allows.
const POLL: Duration = Duration::from_secs(20);
/// How long a received message is hidden from others, and after which it comes again if it was not
/// deleted. The engine has an outcome for every notice before that.
const HIDDEN_FOR: Duration = Duration::from_secs(20);
/// After a failed call, before the next. Doubles up to the second number.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LAST: Duration = Duration::from_secs(15);

/// Messages in work at once: as many as one call receives.
pub const MESSAGES_AT_ONCE: usize = 10;

const FINDING: &str = "the queue is not found";
const RECEIVING: &str = "no message is received";
const DELETING: &str = "messages that are dealt with stay";

/// Reads one queue for one controller.
#[derive(Debug)]
pub struct Consumer {
    queues: Queues,
    queue_name: String,
    /// The queue's address, once it was found.
    url: Option<String>,
    notices: mpsc::Sender<NoticeDelivery>,
    /// Who deals with zonal shifts, if anybody does.
    shifts: Option<mpsc::Sender<HandedOn>>,
    /// Messages that are in other hands; few, for those hands hold few at once.
    handed_on: JoinSet<()>,
    metrics: Metrics,
    complaints: Complaints,
}

/// A message in work.
struct Item {
    receipt: String,
    label: &'static str,
    happened_at: Option<UnixSeconds>,
    fate: Fate,
}

/// What becomes of a message.
enum Fate {
    /// It is done with, for this reason.
    Delete(&'static str),
    /// It is done with when its notice has a final outcome.
    Awaits(oneshot::Receiver<NoticeOutcome>),
    /// It is in other hands, and done with when these say so.
    HandedOn(oneshot::Receiver<()>),
    /// Those hands are full: it comes again.
    Stays,
}

impl Consumer {
    /// A consumer of the queue of this name, which need not be there yet.
    pub fn new(
        queues: Queues,
        queue_name: String,
        notices: mpsc::Sender<NoticeDelivery>,
        metrics: Metrics,
    ) -> Self {
        Self {
            queues,
            queue_name,
            url: None,
            notices,
            shifts: None,
            handed_on: JoinSet::new(),
            metrics,
            complaints: Complaints::default(),
        }
    }

    /// Hands announcements of zonal shifts on, which are of no use to the controller itself.
    #[must_use]
    pub fn handing_shifts_to(mut self, shifts: mpsc::Sender<HandedOn>) -> Self {
        self.shifts = Some(shifts);
        self
    }

    /// Runs until the controller is gone. Receives nothing before `leading` turns true.
    pub async fn run(mut self, mut leading: watch::Receiver<bool>) {
        if leading.wait_for(|leading| *leading).await.is_err() {
            return;
        }
        info!(queue = self.queue_name, "waiting for interruption notices");
        let mut wait = RETRY_FIRST;
        while !self.notices.is_closed() {
            match self.turn().await {
                Ok(()) => wait = RETRY_FIRST,
                Err((what, error)) => {
                    self.complaints.complain(what, &error);
                    sleep(wait).await;
                    wait = (wait * 2).min(RETRY_LAST);
                }
            }
        }
    }

    /// Receives once and deals with what came.
    async fn turn(&mut self) -> Result<(), (&'static str, CallError)> {
        let url = match &self.url {
            Some(url) => url.clone(),
            None => self.find().await.map_err(|error| (FINDING, error))?,
        };
        let received = self.queues.receive_hidden(&url, POLL, HIDDEN_FOR).await;
        let messages = received.map_err(|error| {
            if matches!(error, CallError::NoSuchQueue { .. }) {
                // It was deleted; another of the name may be made.
                self.url = None;
            }
            (RECEIVING, error)
        })?;
        self.complaints.settle(RECEIVING);
        let mut items = Vec::with_capacity(messages.len());
        for message in messages {
            items.push(self.take_in(message).await);
        }
        let mut done = Vec::new();
        for item in items {
            done.extend(self.conclude(&url, item).await);
        }
        self.delete(&url, done).await.map_err(|error| (DELETING, error))
    }

    async fn find(&mut self) -> Result<String, CallError> {
        let name = &self.queue_name;
        let missing = || CallError::NoSuchQueue {
            action: "sqs:GetQueueUrl",
            resource: format!("{name} in this account and region"),
        };
        let url = self.queues.url(name).await?.ok_or_else(missing)?;
        self.complaints.settle(FINDING);
        self.url = Some(url.clone());
        Ok(url)
    }

    /// Hands a notice on; the others of the batch do not wait for its outcome.
    async fn take_in(&self, message: Message) -> Item {
        let Understood { mut meaning, happened_at } = understand(&message.body);
        if meaning == Meaning::ZonalShift && self.shifts.is_none() {
            meaning = Meaning::Nothing;
        }
        let label = meaning.label();
        if !matches!(meaning, Meaning::Unreadable(_)) {
            self.count("karpenter_interruption_received_messages_total", label, None);
        }
        let fate = match meaning {
            Meaning::Notice(kind, instances) => {
                debug!(kind = label, ?instances, "a notice came");
                let (delivery, outcome) = NoticeDelivery::new(kind, instances);
                // Where nobody is left to hear it, nobody will tell an outcome either.
                let _ = self.notices.send(delivery).await;
                Fate::Awaits(outcome)
            }
            Meaning::Unreadable(why) => {
                warn!(id = message.id, "a message that cannot be read is deleted: {why}");
                Fate::Delete("unreadable")
            }
            Meaning::ZonalShift => self.hand_on(message.body),
            Meaning::Nothing => Fate::Delete("ignored"),
        };
        Item { receipt: message.receipt, label, happened_at, fate }
    }

    fn hand_on(&self, body: String) -> Fate {
        let Some(shifts) = &self.shifts else { return Fate::Delete("ignored") };
        let (message, is_done) = HandedOn::new(body);
        // Interruptions must not wait for a zone.
        match shifts.try_send(message) {
            Ok(()) => Fate::HandedOn(is_done),
            Err(_) => Fate::Stays,
        }
    }

    /// What came of a message; what to delete it by, if it is done with.
    async fn conclude(&mut self, url: &str, item: Item) -> Option<String> {
        let Item { receipt, label, happened_at, fate } = item;
        let (outcome, is_final) = match fate {
            Fate::Delete(outcome) => (outcome, true),
            Fate::Awaits(outcome) => match outcome.await {
                Ok(outcome) => (outcome.label(), outcome.is_final()),
                // The controller ends; its successor hears of it again.
                Err(_) => return None,
            },
            Fate::HandedOn(is_done) => {
                self.count("kerf_interruption_messages_total", label, Some("handed_on"));
                self.delete_once(url, receipt, is_done);
                return None;
            }
            Fate::Stays => ("not_in_time", false),
        };
        self.count("kerf_interruption_messages_total", label, Some(outcome));
        if !is_final {
            warn!(kind = label, "a message had no effect in time and comes again");
            return None;
        }
        let waited = happened_at.map(|at| now().since(Time::from_seconds(at.seconds())));
        if let Some(span) = waited {
            let metric = "karpenter_interruption_message_queue_duration_seconds";
            self.metrics.count(vec![Sample::Took { metric, labels: Vec::new(), span }]);
        }
        let milliseconds = waited.map(Span::millis);
        debug!(kind = label, outcome, milliseconds, "a message is done with");
        Some(receipt)
    }

    /// Deletes what is done with. What stays comes again and changes nothing.
    async fn delete(&mut self, url: &str, receipts: Vec<String>) -> Result<(), CallError> {
        if receipts.is_empty() {
            return Ok(());
        }
        let count = receipts.len();
        let refusals = self.queues.delete(url, receipts).await?;
        self.metrics.count(vec![deleted(count - refusals.len().min(count))]);
        if let Some(refusal) = refusals.into_iter().next() {
            let (action, resource) = ("sqs:DeleteMessage", url.to_owned());
            return Err(CallError::Refused { action, resource, why: refusal.why });
        }
        self.complaints.settle(DELETING);
        Ok(())
    }

    /// Deletes a message when other hands are done with it, which nobody waits for.
    fn delete_once(&mut self, url: &str, receipt: String, is_done: oneshot::Receiver<()>) {
        while self.handed_on.try_join_next().is_some() {}
        let (queues, url, metrics) = (self.queues.clone(), url.to_owned(), self.metrics.clone());
        self.handed_on.spawn(async move {
            // After that it is received anew, and this receipt is worth nothing.
            if !matches!(timeout(HIDDEN_FOR, is_done).await, Ok(Ok(()))) {
                return;
            }
            match queues.delete(&url, vec![receipt]).await {
                Ok(refusals) if refusals.is_empty() => metrics.count(vec![deleted(1)]),
                Ok(refusals) => warn!("a message stays that is dealt with: {}", refusals[0].why),
                Err(error) => warn!("a message stays that is dealt with: {error}"),
            }
        });
    }

    fn count(&self, metric: &'static str, message_type: &str, outcome: Option<&str>) {
        let mut labels = vec![("message_type", message_type.to_owned())];
        labels.extend(outcome.map(|outcome| ("outcome", outcome.to_owned())));
        self.metrics.count(vec![Sample::one(metric, labels)]);
    }
}

fn deleted(count: usize) -> Sample {
    let by = u64::try_from(count).unwrap_or(u64::MAX);
    let metric = "karpenter_interruption_deleted_messages_total";
    Sample::Count { metric, labels: Vec::new(), by }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
