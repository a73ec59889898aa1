//! Carrying out actions side by side, so many at a time.

use std::sync::Arc;

use kerf_engine::action::{Action, Lane};
use kerf_engine::event::{Event, Failure, Outcome};
use kerf_engine::time::Span;
use kerf_runtime::FailureLog;
use kerf_runtime::shutdown::FINISH_WITHIN;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tracing::{debug, warn};

use crate::client::execute::Executor;
use crate::client::metrics::{Metrics, call};
use crate::client::provider::Provider;
use crate::client::words::words;
use crate::client::zonal;

/// Calls to the API server under way at once; more would only wait in the server's own queues.
const WRITES_AT_ONCE: usize = 64;
/// Calls to the cloud under way at once.
const CLOUD_CALLS_AT_ONCE: usize = 64;

/// Those who carry out actions, so many at a time.
pub(crate) struct ExecutorPool<P> {
    executor: Arc<Executor<P>>,
    events: mpsc::Sender<Event>,
    writes: Arc<Semaphore>,
    cloud_calls: Arc<Semaphore>,
    under_way: JoinSet<()>,
    metrics: Metrics,
    provider: Arc<str>,
    failures: FailureLog,
}

impl<P: Provider> ExecutorPool<P> {
    /// Nothing is under way.
    pub(crate) fn new(
        executor: Executor<P>,
        events: mpsc::Sender<Event>,
        metrics: Metrics,
        provider: Arc<str>,
        failures: FailureLog,
    ) -> Self {
        Self {
            metrics,
            provider,
            failures,
            executor: Arc::new(executor),
            events,
            writes: Arc::new(Semaphore::new(WRITES_AT_ONCE)),
            cloud_calls: Arc::new(Semaphore::new(CLOUD_CALLS_AT_ONCE)),
            under_way: JoinSet::new(),
        }
    }

    /// Starts to carry an action out; its outcome comes as an event.
    pub(crate) fn carry_out(&mut self, action: Action) {
        while self.under_way.try_join_next().is_some() {}
        let turns = match action.kind.lane() {
            Lane::Write => self.writes.clone(),
            Lane::Cloud => self.cloud_calls.clone(),
            Lane::Solve => unreachable!("the solver pool carries out solves"),
        };
        let (executor, events) = (self.executor.clone(), self.events.clone());
        let (metrics, provider) = (self.metrics.clone(), self.provider.clone());
        let failures = self.failures.clone();
        self.under_way.spawn(async move {
            let _turn = turns.acquire_owned().await;
            let since = Instant::now();
            let outcome = executor.carry_out(&action.kind).await;
            let milliseconds = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            let span = Span::from_millis(milliseconds);
            metrics.count(call(&action.kind, &outcome, span, &provider));
            match &outcome {
                // The watch event that made it one is on its way.
                Outcome::Failed(Failure::Conflict) => debug!("too late: {}", words(&action)),
                Outcome::Failed(failure) => match zonal::failure_name(&action) {
                    Some(what) => drop(failures.failed(what, kind_of(failure), text(failure))),
                    None => {
                        warn!(?failure, reason = %action.reason, "not done: {}", words(&action));
                    }
                },
                outcome => {
                    zonal::failure_name(&action).into_iter().for_each(|it| failures.recovered(it));
                    debug!(outcome = kind(outcome), milliseconds, "done: {}", words(&action));
                }
            }
            // The engine's task may be gone already; then nobody waits for the outcome.
            let _ = events.send(Event::Finished { action: action.id, outcome }).await;
        });
    }

    /// Waits for what is under way, within reason. Outcomes are taken and dropped: what was done
    /// shows in the objects.
    pub(crate) async fn finish(mut self, events: &mut mpsc::Receiver<Event>) {
        let finished = async {
            loop {
                tokio::select! {
                    done = self.under_way.join_next() => if done.is_none() { break },
                    Some(_) = events.recv() => {}
                }
            }
        };
        if timeout(FINISH_WITHIN, finished).await.is_err() {
            warn!("some calls did not end in time");
        }
    }
}

/// What tells failures apart: those with the same remedy are one.
fn kind_of(failure: &Failure) -> &'static str {
    match failure {
        Failure::Denied { .. } => "denied",
        _ => "failing",
    }
}

fn text(failure: &Failure) -> String {
    match failure {
        Failure::Denied { message } => format!(
            "not allowed: {message}; apply deploy/zonal-autoshift.yaml, for the controller \
             deploy/rbac-zonal-autoshift.yaml, or grant it to the account in use"
        ),
        Failure::Invalid { message } => format!("refused: {message}"),
        Failure::Unavailable { message } => {
            format!("the API server does not answer as it should: {message}")
        }
        failure => format!("{failure:?}"),
    }
}

fn kind(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Stored(_) => "stored",
        Outcome::Done => "done",
        Outcome::NotFound => "not found",
        Outcome::Launched(_) => "launched",
        Outcome::Instances(_) => "listed",
        Outcome::Resolved(_) => "resolved",
        Outcome::Solved(_) => "solved",
        Outcome::ShiftNetwork(_) => "described",
        Outcome::ShiftsListed(_) => "listed",
        Outcome::Failed(_) => "failed",
    }
}
