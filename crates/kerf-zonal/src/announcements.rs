//! Announcements of zonal shifts, from a queue that holds nothing else.

use kerf_aws::{Queues, SqsQueue};
use kerf_engine::event::Kind;
use kerf_kube::{Health, NoticeDelivery};
use kerf_runtime::queue::{
    Deliveries, Delivery, MESSAGES_PER_CALL, QueueHealth, Reader, ReaderSettings,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// Reads a queue for NodePool mode. A message is deleted once the engine says that its effect is
/// stored; any other stays and comes again.
pub struct Announcements {
    reader: Reader<SqsQueue>,
    deliveries: Deliveries,
    notices: mpsc::Sender<NoticeDelivery>,
    health: Health,
}

impl Announcements {
    /// The queue at this URL, whose messages are handed to the controller.
    pub fn new(
        queues: Queues,
        url: String,
        notices: mpsc::Sender<NoticeDelivery>,
        health: &Health,
    ) -> Self {
        let settings = ReaderSettings {
            name: "the zonal shift queue".to_owned(),
            receivers: 1,
            in_hand_max: MESSAGES_PER_CALL,
        };
        let queue = SqsQueue::at(queues, url);
        let (reader, deliveries) = Reader::new(queue, settings, health.failures().clone());
        Self { reader, deliveries, notices, health: health.clone() }
    }

    /// Whether the queue answers, for a probe.
    pub fn queue_health(&self) -> QueueHealth {
        self.reader.health()
    }

    /// Reads until `stop` turns true. Receives nothing before `leading` turns true and the stored
    /// state is known: a message whose effect cannot be stored would only be received in vain.
    pub async fn run(self, mut leading: watch::Receiver<bool>, mut stop: watch::Receiver<bool>) {
        let Self { reader, deliveries, notices, health } = self;
        let ready = async {
            health.until_listed(&[Kind::ShiftConfigMap, Kind::PoolManifest]).await;
            leading.wait_for(|leading| *leading).await.is_ok()
        };
        let is_ready = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => false,
            is_ready = ready => is_ready,
        };
        if is_ready {
            tokio::join!(reader.run(stop), hand_over(deliveries, notices));
        }
    }
}

/// Hands messages to the controller side by side; the reader bounds how many there are.
async fn hand_over(mut deliveries: Deliveries, notices: mpsc::Sender<NoticeDelivery>) {
    let mut under_way = JoinSet::new();
    while let Some(delivery) = deliveries.recv().await {
        while under_way.try_join_next().is_some() {}
        let (notice, outcome) = NoticeDelivery::zonal_shift(&delivery.body);
        if notices.send(notice).await.is_err() {
            return;
        }
        under_way.spawn(async move {
            // Without an outcome, since the controller ended, the message comes again.
            if outcome.await.is_ok_and(|outcome| outcome.is_final()) {
                Delivery::delete(delivery);
            }
        });
    }
    under_way.join_all().await;
}
