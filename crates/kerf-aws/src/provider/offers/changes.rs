//! Word that what is offered has changed, for those who hold an older answer.

use std::future::Future;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

/// Changes that come together, as in a storm of failed launches, are told together: making the
/// list anew takes milliseconds, and a placement waits longer than this for more pods.
const TOLD_TOGETHER: Duration = Duration::from_millis(100);

/// How often what is offered has changed.
#[derive(Debug)]
pub(crate) struct Changes(watch::Sender<u64>);

impl Default for Changes {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Changes {
    /// Something has changed.
    pub(crate) fn note(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// How often so far; an answer made at a lower count is out of date.
    pub(crate) fn count(&self) -> u64 {
        *self.0.borrow()
    }

    /// Comes when something changes after this call, whenever the future is first looked at.
    pub(crate) fn next(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut changes = self.0.subscribe();
        async move {
            // Nobody tells any more once the provider is gone; then nothing changes.
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            sleep(TOLD_TOGETHER).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_between_asking_and_waiting_is_not_missed() {
        let changes = Changes::default();
        changes.note();
        let next = changes.next();
        changes.note();
        next.await;
        assert_eq!(changes.count(), 2);
    }
}
