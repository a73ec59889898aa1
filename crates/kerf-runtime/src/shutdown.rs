//! Ending a process: the signals that ask for it, and how much time is left then.

use std::time::Duration;

use tracing::info;

/// How long work that is under way may go on after a process was asked to end. Kubernetes kills a
/// pod 30 seconds after asking it to end unless told otherwise; a process waits for its calls
/// first and for its tasks then, so this is spent twice at most.
pub const FINISH_WITHIN: Duration = Duration::from_secs(10);

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
