//! Receiving nothing while nothing could be done with it.

use std::sync::Arc;

use tokio::sync::watch;

/// Whether a handler wants no more messages for now. Each time a queue hands a message out counts,
/// and after a few it goes to the dead letters: what cannot be handled must not be received.
#[derive(Clone, Debug)]
pub(super) struct Pause(Arc<watch::Sender<bool>>);

impl Default for Pause {
    fn default() -> Self {
        Self(Arc::new(watch::channel(false).0))
    }
}

impl Pause {
    pub(super) fn set(&self, is_paused: bool) {
        self.0.send_replace(is_paused);
    }

    pub(super) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is over.
    pub(super) async fn over(&self) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|is_paused| !*is_paused).await;
    }
}
