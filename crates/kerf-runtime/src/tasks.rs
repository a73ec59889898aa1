//! Named tasks that live as long as the process. One that dies ends the process.

use std::collections::HashMap;

use thiserror::Error;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::timeout;
use tracing::warn;

use crate::shutdown::{FINISH_TASKS_WITHIN, Shutdown};

/// The tasks of a process. Dropped, they are aborted where they are.
#[derive(Debug)]
pub struct Tasks {
    running: JoinSet<()>,
    names: HashMap<Id, String>,
    stop: watch::Sender<bool>,
}

/// A task ended although nobody asked it to. The process cannot do its work without it; starting
/// the process again helps where the cause is gone.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("task {task:?} {cause}")]
pub struct TaskEnded {
    /// The name it was spawned under.
    pub task: String,
    /// `panicked: …` with the message, or `returned`.
    pub cause: String,
}

impl TaskEnded {
    /// A task that died.
    pub(crate) fn of(task: &str, error: JoinError) -> Self {
        Self { task: task.to_owned(), cause: cause(error) }
    }
}

impl Default for Tasks {
    fn default() -> Self {
        let (stop, _) = watch::channel(false);
        Self { running: JoinSet::new(), names: HashMap::new(), stop }
    }
}

impl Tasks {
    /// Turns true when tasks should come to an end. Every task that has something to finish listens
    /// to it; the others are aborted after [`FINISH_TASKS_WITHIN`].
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Starts a task under a name that tells an operator what is missing without it.
    pub fn spawn(
        &mut self,
        name: impl Into<String>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let task = self.running.spawn(work);
        self.names.insert(task.id(), name.into());
    }

    /// Waits until a task ends, which none should. Safe to drop and call again.
    pub async fn first_ended(&mut self) -> TaskEnded {
        match self.running.join_next_with_id().await {
            Some(Ok((id, ()))) => self.ended(id, "returned".to_owned()),
            Some(Err(error)) => self.ended(error.id(), cause(error)),
            None => std::future::pending().await,
        }
    }

    /// Ends all tasks: asks them to and waits up to [`FINISH_TASKS_WITHIN`], or aborts them at once.
    pub async fn finish(mut self, shutdown: Shutdown) {
        if shutdown == Shutdown::AtOnce {
            return;
        }
        self.stop.send_replace(true);
        let finished = async {
            while let Some(ended) = self.running.join_next_with_id().await {
                match ended {
                    Ok((id, ())) => drop(self.names.remove(&id)),
                    Err(error) => {
                        let ended = self.ended(error.id(), cause(error));
                        warn!("{ended} during shutdown");
                    }
                }
            }
        };
        if timeout(FINISH_TASKS_WITHIN, finished).await.is_err() {
            let mut late: Vec<&str> = self.names.values().map(String::as_str).collect();
            late.sort_unstable();
            let seconds = FINISH_TASKS_WITHIN.as_secs();
            warn!(tasks = late.join(", "), "tasks did not finish within {seconds} s");
        }
    }

    fn ended(&mut self, id: Id, cause: String) -> TaskEnded {
        TaskEnded { task: self.names.remove(&id).unwrap_or_default(), cause }
    }
}

/// What a task died of, with the message of its panic.
fn cause(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "was aborted".to_owned() };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.as_deref().unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_is_told_by_name_with_its_message() {
        let mut tasks = Tasks::default();
        tasks.spawn("watches", std::future::pending());
        tasks.spawn("queue reader", async { panic!("no {}", "queue") });
        let ended = tasks.first_ended().await;
        assert_eq!(ended.to_string(), r#"task "queue reader" panicked: no queue"#);
    }

    #[tokio::test]
    async fn a_task_that_returns_before_it_is_asked_to_is_told_too() {
        let mut tasks = Tasks::default();
        tasks.spawn("metrics server", async {});
        assert_eq!(tasks.first_ended().await.to_string(), r#"task "metrics server" returned"#);
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_finish_what_they_do_and_those_that_do_not_end_are_left_behind() {
        let mut tasks = Tasks::default();
        let (done, is_done) = tokio::sync::oneshot::channel();
        let mut stopping = tasks.stopping();
        tasks.spawn("orderly", async move {
            let _ = stopping.wait_for(|stop| *stop).await;
            let _ = done.send(());
        });
        tasks.spawn("stuck", std::future::pending());
        let started = tokio::time::Instant::now();
        tasks.finish(Shutdown::FinishFirst).await;
        assert_eq!(is_done.await, Ok(()));
        assert_eq!(started.elapsed(), FINISH_TASKS_WITHIN);
    }
}
