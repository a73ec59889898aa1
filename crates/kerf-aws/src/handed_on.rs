//! A message that the reader of a queue hands to somebody else to deal with.

use tokio::sync::oneshot;

/// A message in the hands of somebody who does not know the queue. Dropped without a word it stays
/// in the queue and comes again.
#[derive(Debug)]
pub struct HandedOn {
    /// Its text.
    pub body: String,
    done: oneshot::Sender<()>,
}

impl HandedOn {
    /// A message to hand on, and where its reader hears that it may be deleted.
    pub fn new(body: String) -> (Self, oneshot::Receiver<()>) {
        let (done, is_done) = oneshot::channel();
        (Self { body, done }, is_done)
    }

    /// Its effect is stored: the reader may delete it.
    pub fn done(self) {
        // A reader that waits no longer receives it again.
        let _ = self.done.send(());
    }
}
