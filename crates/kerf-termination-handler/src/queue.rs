//! Queue mode: from messages to events, and back to deleted messages.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kerf_aws::{AutoScaling, Described, Instances, Queues, SqsQueue};
use kerf_engine::event::Kind;
use kerf_runtime::queue::{BatchLimits, Deliveries, Delivery, Reader, ReaderSettings};
use kerf_runtime::{FailureLog, clock};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{debug, info, warn};

use crate::context::EventContext;
use crate::event::{Handling, Hooks, Target};
use crate::instance::{Standing, belongs_here, look_up, standing};
use crate::kind::EventKind;
use crate::message::{Announced, Message, understand};
use crate::record::{EventRecord, SQS_MONITOR, SQS_TERMINATE};
use crate::settings::{Action, LogVersion, Poison, QueueSettings};
use crate::store::Fate;

/// Messages in hand at once: a whole zone's worth, and no more than the engine keeps open.
const IN_HAND_MAX: usize = 1_000;
/// Receivers that poll side by side while the queue is full.
const RECEIVERS: usize = 4;
/// How long messages wait for others, so that their instances are asked for together.
const TOGETHER: BatchLimits = BatchLimits {
    messages_max: 100,
    quiet: Duration::from_millis(20),
    wait_max: Duration::from_millis(200),
};
/// The queue may be silent for so long before the handler is no longer ready.
const SILENT_AFTER: Duration = Duration::from_secs(300);
/// What failures of lookups are logged as.
const LOOKUP: &str = "looking up instances";

/// Handles what a queue brings.
#[derive(Clone)]
pub(crate) struct QueueMode {
    pub(crate) settings: Arc<QueueSettings>,
    pub(crate) instances: Instances,
    pub(crate) auto_scaling: AutoScaling,
    pub(crate) context: EventContext,
}

/// A message whose events are known.
struct Read {
    delivery: Delivery,
    events: Vec<Announced>,
}

impl QueueMode {
    /// Reads the queue until `stop` turns true. Receives nothing before `leading` turns true and the
    /// nodes are known.
    pub(crate) async fn run(
        self,
        queues: Queues,
        mut leading: watch::Receiver<bool>,
        mut stop: watch::Receiver<bool>,
    ) {
        let ready = async {
            self.context.health.until_listed(&[Kind::Pod, Kind::Node]).await;
            leading.wait_for(|leading| *leading).await.is_ok()
        };
        let is_ready = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => false,
            is_ready = ready => is_ready,
        };
        if !is_ready {
            return;
        }
        match self.context.settings.log_version {
            LogVersion::One => {
                info!({ event_type = SQS_TERMINATE }, "Started monitoring for events");
            }
            LogVersion::Two => {
                info!({ monitor_type = SQS_MONITOR }, "Started monitoring for events");
            }
        }
        let hidden_for = self.settings.hidden_for;
        let queue = SqsQueue::at(queues, self.settings.queue_url.clone()).hiding_for(hidden_for);
        let name = "the queue".to_owned();
        let settings = ReaderSettings { name, receivers: RECEIVERS, in_hand_max: IN_HAND_MAX };
        let (reader, deliveries) =
            Reader::new(queue, settings, self.context.health.failures().clone());
        let reader = reader.hiding_again(hidden_for / 2);
        reader.health().silent_after(SILENT_AFTER);
        self.context.health.read_queue(reader.health());
        tokio::join!(reader.run(stop), self.handle(deliveries));
    }

    /// Handles messages side by side; the reader bounds how many there are.
    async fn handle(self, mut deliveries: Deliveries) {
        let mut under_way = JoinSet::new();
        while let Some(batch) = deliveries.next_batch(TOGETHER).await {
            while under_way.try_join_next().is_some() {}
            for (delivery, events) in self.classify(batch).await {
                under_way.spawn(self.clone().finish(delivery, events));
            }
        }
        under_way.join_all().await;
    }

    /// Reads messages, asks for their instances together, and says which events are the handler's
    /// business. Messages without any are deleted.
    async fn classify(&self, batch: Vec<Delivery>) -> Vec<(Delivery, Vec<(Announced, Described)>)> {
        let read: Vec<Read> = batch.into_iter().filter_map(|one| self.read(one)).collect();
        let ids: BTreeSet<String> =
            read.iter().flat_map(|read| read.events.iter().map(|it| it.instance.clone())).collect();
        if ids.is_empty() {
            return Vec::new();
        }
        let failures: &FailureLog = self.context.health.failures();
        let found = match look_up(&self.instances, ids.into_iter().collect()).await {
            Ok(found) => found,
            Err(error) => {
                // The messages stay and come again.
                let kind = kerf_runtime::Kind::kind(&error);
                let is_new = failures.failed(LOOKUP, kind, error.to_string());
                self.context.counters.failed("sqs-monitor");
                if let Some(events) = self.context.events.as_ref().filter(|_| is_new) {
                    events.monitor_error(SQS_MONITOR);
                }
                return Vec::new();
            }
        };
        failures.recovered(LOOKUP);
        let mut wanted = Vec::new();
        for Read { delivery, events } in read {
            let of_instance = |event: Announced| {
                let described = found.get(&event.instance);
                let described = self.wanted(&event, described)?.clone();
                Some((event, described))
            };
            let events: Vec<_> = events.into_iter().filter_map(of_instance).collect();
            match events.is_empty() {
                true => self.delete(delivery),
                false => wanted.push((delivery, events)),
            }
        }
        wanted
    }

    /// The events of a message. One without any is deleted or left.
    fn read(&self, delivery: Delivery) -> Option<Read> {
        match understand(&delivery.body, clock::now()) {
            Message::Events(events) => Some(Read { delivery, events }),
            Message::Nothing(why) => {
                debug!({ id = delivery.id, why }, "Nothing to do for a message");
                self.delete(delivery);
                None
            }
            Message::Poison(why) => {
                self.context.counters.failed("sqs-monitor");
                warn!({ id = delivery.id, error = why }, "A message cannot be understood");
                if self.settings.poison == Poison::Delete {
                    self.delete(delivery);
                }
                None
            }
        }
    }

    /// The instance of an event that is the handler's business.
    fn wanted<'a>(
        &self,
        event: &Announced,
        described: Option<&'a Described>,
    ) -> Option<&'a Described> {
        let why = match described.map(|described| standing(described, &self.settings)) {
            _ if self.context.settings.actions.of(event.kind) == Action::Ignore => "ignored",
            Some(Standing::Managed) => return described,
            Some(Standing::Unmanaged) => "unmanaged",
            Some(Standing::Nameless) | None => "no_instance",
        };
        debug!(
            { "instance-id" = event.instance, "event-id" = event.event_id, why },
            "Skipping an event"
        );
        self.context.counters.ended(event.kind, why);
        None
    }

    /// Handles the events of a message; it is deleted when all are through.
    async fn finish(self, delivery: Delivery, events: Vec<(Announced, Described)>) {
        let mut handled = JoinSet::new();
        for (announced, described) in events {
            handled.spawn(self.handling(announced, &described).run());
        }
        let fates = handled.join_all().await;
        self.context.counters.under_way(self.context.store.under_way());
        if fates.iter().all(|fate| *fate == Fate::Finished) {
            self.delete(delivery);
        }
    }

    fn handling(&self, announced: Announced, described: &Described) -> Handling {
        let settings = &self.settings;
        // There is nothing to drain where a node that is provably this cluster's has gone.
        let is_ours =
            announced.kind == EventKind::AsgLifecycle && belongs_here(described, settings);
        Handling {
            context: self.context.clone(),
            record: EventRecord::of(&announced, described, clock::now()),
            announced,
            target: Target {
                node_names: vec![described.private_dns_name.as_str().into()],
                ..Target::default()
            },
            hooks: Some(Hooks {
                auto_scaling: self.auto_scaling.clone(),
                delay: settings.hook_delay,
                heartbeats: settings.heartbeats,
            }),
            finishes_without_node: settings.finishes_without_node || is_ours,
        }
    }

    /// In a dry run everything stays as it is.
    fn delete(&self, delivery: Delivery) {
        if !self.context.settings.dry_run {
            delivery.delete();
        }
    }
}
