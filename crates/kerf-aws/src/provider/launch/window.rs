//! How long requests wait for others to be made together with.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// When a batch closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// After nobody has joined for so long.
    pub(crate) idle: Duration,
    /// After so long in any case.
    pub(crate) longest: Duration,
    /// With so many members.
    pub(crate) most: usize,
}

impl Window {
    /// Waits until a batch of that size, which grows meanwhile, closes.
    pub(crate) async fn closes(self, mut size: watch::Receiver<usize>) {
        let end = Instant::now() + self.longest;
        while *size.borrow_and_update() < self.most {
            let idle_end = Instant::now() + self.idle;
            match timeout_at(idle_end.min(end), size.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);

    #[tokio::test]
    async fn a_batch_closes_when_it_is_full_idle_or_old() {
        let (size, receiver) = watch::channel(2);
        Window { idle: LONG, longest: LONG, most: 2 }.closes(receiver.clone()).await;
        Window { idle: Duration::ZERO, longest: LONG, most: 3 }.closes(receiver.clone()).await;
        Window { idle: LONG, longest: Duration::ZERO, most: 3 }.closes(receiver.clone()).await;
        let waiting = tokio::spawn(Window { idle: LONG, longest: LONG, most: 3 }.closes(receiver));
        size.send_replace(3);
        waiting.await.unwrap();
    }
}
