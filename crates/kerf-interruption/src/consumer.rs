//! Hands on what messages announce, and has those deleted that have their outcome.

use std::time::Duration;

use kerf_aws::{Queues, SqsQueue};
use kerf_engine::notice::NoticeOutcome;
use kerf_engine::sample::Sample;
use kerf_engine::time::{Span, Time};
use kerf_kube::{Health, Metrics, NoticeDelivery};
use kerf_notices::zonal_shift::UnixSeconds;
use kerf_runtime::queue::{Deliveries, Delivery, Reader, ReaderSettings};
use kerf_runtime::{FailureLog, clock};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tracing::{debug, error, info, warn};

use crate::meaning::{Meaning, Understood, understand};

/// How long a received message is hidden from others, and after which it comes again if it was not
/// deleted. The engine has an outcome for every notice before that.
const HIDDEN_FOR: Duration = Duration::from_secs(20);

/// Messages in work at once. The end of a node takes about ten calls to the API server, and by default
/// there are 200 of those a second: so many are through with them within ten seconds, and none comes
/// again because others were before it.
pub const MESSAGES_AT_ONCE: usize = 200;

/// Receivers that poll side by side while the queue is full: what one brings is worked on while the
/// others ask.
const RECEIVERS: usize = 4;

/// Reads the interruption queue of a cluster for its controller.
#[derive(Clone, Debug)]
pub struct Consumer {
    notices: mpsc::Sender<NoticeDelivery>,
    /// Whether the controller carries out zonal shifts on NodePools.
    takes_shifts: bool,
    metrics: Metrics,
    health: Health,
}

/// A message that was handed to the engine or needs nobody.
struct Item {
    delivery: Delivery,
    label: &'static str,
    happened_at: Option<UnixSeconds>,
    fate: Fate,
}

/// What becomes of a message.
enum Fate {
    /// It is deleted, for this reason.
    Delete(&'static str),
    /// It is deleted when its notice has a final outcome.
    Awaits(oneshot::Receiver<NoticeOutcome>),
}

impl Consumer {
    /// A consumer that hands notices to the controller's engine.
    pub fn new(notices: mpsc::Sender<NoticeDelivery>, metrics: Metrics, health: Health) -> Self {
        Self { notices, takes_shifts: false, metrics, health }
    }

    /// Hands over announcements of zonal shifts, too; otherwise they are ignored.
    #[must_use]
    pub fn with_zonal_shifts(mut self) -> Self {
        self.takes_shifts = true;
        self
    }

    /// Reads the queue of this name, which need not be there yet, until `stop` turns true or the
    /// controller is gone. Receives nothing before `leading` turns true.
    pub async fn run(
        self,
        queues: Queues,
        queue_name: String,
        mut leading: watch::Receiver<bool>,
        mut stop: watch::Receiver<bool>,
    ) {
        let is_leading = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => false,
            leading = leading.wait_for(|leading| *leading) => leading.is_ok(),
        };
        if !is_leading {
            return;
        }
        info!(queue = queue_name, "waiting for interruption notices");
        let queue = SqsQueue::named(queues, queue_name).hiding_for(HIDDEN_FOR);
        let settings = ReaderSettings {
            name: "the interruption queue".to_owned(),
            receivers: RECEIVERS,
            in_hand_max: MESSAGES_AT_ONCE,
        };
        let (reader, deliveries) = Reader::new(queue, settings, FailureLog::default());
        self.health.read_queue(reader.health());
        let metrics = self.metrics.clone();
        let reader = reader.on_deleted(move |count| metrics.count(vec![deleted(count)]));
        tokio::join!(reader.run(stop), self.handle(deliveries));
    }

    /// Handles messages side by side; the reader bounds how many there are.
    async fn handle(self, mut deliveries: Deliveries) {
        let mut under_way = JoinSet::new();
        loop {
            let delivery = tokio::select! {
                () = self.notices.closed() => return,
                delivery = deliveries.recv() => delivery,
            };
            let Some(delivery) = delivery else { break };
            while under_way.try_join_next().is_some() {}
            let item = self.take_in(delivery).await;
            under_way.spawn(item.conclude(self.metrics.clone()));
        }
        under_way.join_all().await;
    }

    /// Hands what a message says to the controller, where that concerns it.
    async fn take_in(&self, delivery: Delivery) -> Item {
        let now = UnixSeconds::at(clock::now().as_second());
        let Understood { mut meaning, happened_at } = understand(&delivery.body, now);
        if meaning == Meaning::ZonalShift && !self.takes_shifts {
            meaning = Meaning::Nothing;
        }
        let label = meaning.label();
        if !matches!(meaning, Meaning::Unreadable(_)) {
            let metric = "karpenter_interruption_received_messages_total";
            self.metrics.count(vec![counted(metric, label, None)]);
        }
        let fate = match meaning {
            Meaning::Notice(kind, instances) => {
                debug!(kind = label, ?instances, "received an interruption notice");
                let (notice, outcome) = NoticeDelivery::new(kind, instances);
                // Where nobody is left to hear it, nobody will tell an outcome either.
                let _ = self.notices.send(notice).await;
                Fate::Awaits(outcome)
            }
            Meaning::Unreadable(why) => {
                warn!(id = delivery.id, "deleting a message that cannot be parsed: {why}");
                Fate::Delete("unreadable")
            }
            Meaning::ZonalShift => {
                let (notice, outcome) = NoticeDelivery::zonal_shift(&delivery.body);
                let _ = self.notices.send(notice).await;
                // Interruptions must not wait for a zone.
                let (delivery, fate) = (delivery.handed_on(), Fate::Awaits(outcome));
                return Item { delivery, label, happened_at, fate };
            }
            Meaning::Nothing => Fate::Delete("ignored"),
            Meaning::Untimely(why) => {
                warn!(id = delivery.id, "deleting a message that is {}", why.word());
                Fate::Delete(why.word())
            }
        };
        Item { delivery, label, happened_at, fate }
    }
}

impl Item {
    /// Waits for the outcome and deletes the message if that is final.
    async fn conclude(self, metrics: Metrics) {
        let Self { delivery, label, happened_at, fate } = self;
        let (outcome, is_final) = match fate {
            Fate::Delete(outcome) => (outcome, true),
            Fate::Awaits(outcome) => match outcome.await {
                Ok(NoticeOutcome::Held) => {
                    error!(
                        kind = label,
                        "held an interruption back: more of the cluster would go within a minute than \
                         --interruption-percent-per-minute allows; if the notices are right, raise it"
                    );
                    (NoticeOutcome::Held.label(), false)
                }
                Ok(outcome) => (outcome.label(), outcome.is_final()),
                // The controller ends; its successor receives the message again.
                Err(_) => return,
            },
        };
        metrics.count(vec![counted("kerf_interruption_messages_total", label, Some(outcome))]);
        if !is_final {
            warn!(kind = label, "a message had no effect in time and comes again");
            return;
        }
        let now = Time::from_millis(clock::now().as_millisecond());
        let waited = happened_at.map(|at| now.since(Time::from_seconds(at.seconds())));
        if let Some(span) = waited {
            let metric = "karpenter_interruption_message_queue_duration_seconds";
            metrics.count(vec![Sample::Took { metric, labels: Vec::new(), span }]);
        }
        let milliseconds = waited.map(Span::millis);
        debug!(kind = label, outcome, milliseconds, "handled a message");
        delivery.delete();
    }
}

fn counted(metric: &'static str, message_type: &str, outcome: Option<&str>) -> Sample {
    let mut labels = vec![("message_type", message_type.to_owned())];
    labels.extend(outcome.map(|outcome| ("outcome", outcome.to_owned())));
    Sample::one(metric, labels)
}

fn deleted(count: usize) -> Sample {
    let by = u64::try_from(count).unwrap_or(u64::MAX);
    let metric = "karpenter_interruption_deleted_messages_total";
    Sample::Count { metric, labels: Vec::new(), by }
}
