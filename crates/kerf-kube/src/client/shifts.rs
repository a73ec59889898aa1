//! Zones the cluster is shifted away from: what the cloud says becomes news for the engine.

use kerf_engine::event::Event;
use kerf_engine::observed::ShiftedZone;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// Tells what holds now and every change, until what is returned is dropped.
pub(crate) fn tell(
    mut zones: watch::Receiver<Vec<ShiftedZone>>,
    events: &mpsc::Sender<Event>,
) -> JoinSet<()> {
    let events = events.clone();
    let mut task = JoinSet::new();
    task.spawn(async move {
        loop {
            let shifted = zones.borrow_and_update().clone();
            let is_heard = events.send(Event::Shifted(shifted)).await.is_ok();
            if !is_heard || zones.changed().await.is_err() {
                return;
            }
        }
    });
    task
}
