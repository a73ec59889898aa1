//! Ending a process: the signals that ask for it, and how much time is left then.

use std::time::Duration;

use tracing::info;

/// How long calls that are under way may go on after a process was asked to end. This and the next
/// three follow each other: all in all a process that was asked to end has ended ten seconds later,
/// with its Lease given back, so that its successor need not wait. Kubernetes kills a pod 30 seconds
/// after asking it to end unless told otherwise.
pub const FINISH_CALLS_WITHIN: Duration = Duration::from_secs(3);
/// The same for Kubernetes Events that wait to be written.
pub const FINISH_EVENTS_WITHIN: Duration = Duration::from_secs(1);
/// The same for tasks, such as deleting messages that are done with.
pub const FINISH_TASKS_WITHIN: Duration = Duration::from_secs(3);
/// The same for the Lease; after that others wait until it runs out.
pub const RELEASE_WITHIN: Duration = Duration::from_secs(2);

/// How to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Finish the calls that are under way.
    FinishFirst,
    /// Leave everything as it is: another process may lead already, or this one is broken.
    AtOnce,
}

/// Waits for SIGTERM or SIGINT.
pub async fn requested() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => info!("received SIGTERM, shutting down"),
        _ = tokio::signal::ctrl_c() => info!("received SIGINT, shutting down"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_asked_to_end_has_ended_ten_seconds_later() {
        let steps =
            [FINISH_CALLS_WITHIN, FINISH_EVENTS_WITHIN, FINISH_TASKS_WITHIN, RELEASE_WITHIN];
        assert!(steps.iter().sum::<Duration>() < Duration::from_secs(10), "{steps:?}");
    }
}
