//! Zones the cluster is shifted away from: what the cloud says becomes an event for the engine.

use kerf_engine::event::Event;
use kerf_engine::observed::ShiftedZone;
use tokio::sync::{mpsc, watch};

/// Sends what holds now and every change, as long as the cloud says so and the engine listens.
pub(crate) async fn follow(
    mut zones: watch::Receiver<Vec<ShiftedZone>>,
    events: mpsc::Sender<Event>,
) {
    loop {
        let shifted = zones.borrow_and_update().clone();
        let is_heard = events.send(Event::Shifted(shifted)).await.is_ok();
        if !is_heard || zones.changed().await.is_err() {
            return;
        }
    }
}
