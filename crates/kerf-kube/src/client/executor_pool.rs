//! Carrying out actions side by side, so many at a time.

use std::sync::Arc;
use std::time::Duration;

use kerf_engine::BEGIN_WITHIN;
use kerf_engine::action::{Action, ActionClass, Lane};
use kerf_engine::event::{Event, Failure, Outcome};
use kerf_engine::time::Span;
use kerf_runtime::FailureLog;
use kerf_runtime::shutdown::FINISH_CALLS_WITHIN;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tracing::{debug, warn};

use crate::client::execute::{Executor, Turns};
use crate::client::metrics::{Metrics, call};
use crate::client::provider::Provider;
use crate::client::words::words;
use crate::client::zonal;

#[cfg(test)]
mod tests;

/// Calls to the API server under way at once; more would only wait in the server's own queues.
const WRITES_AT_ONCE: usize = 64;
/// Actions of the cloud under way at once. Most wait to be made together, a thousand launches in one
/// call, and each that may not begin makes that call smaller; how many calls there are is the
/// provider's business.
const CLOUD_CALLS_AT_ONCE: usize = 1_000;

/// By class, the most urgent first: calls at once that are left to the more urgent, so that calls
/// which hang do not hold those up.
const WRITES_LEFT: [usize; ActionClass::ALL.len()] = [0, 8, 16, 32];
/// The same for the cloud, where nothing closes a node.
const CLOUD_CALLS_LEFT: [usize; ActionClass::ALL.len()] = [0, 0, 100, CLOUD_CALLS_AT_ONCE - 32];

/// Those who carry out actions, so many at a time.
pub(crate) struct ExecutorPool<P> {
    executor: Arc<Executor<P>>,
    events: mpsc::Sender<Event>,
    writes: Turns,
    cloud_calls: Turns,
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
            writes: Turns::new(WRITES_AT_ONCE, WRITES_LEFT),
            cloud_calls: Turns::new(CLOUD_CALLS_AT_ONCE, CLOUD_CALLS_LEFT),
            under_way: JoinSet::new(),
        }
    }

    /// Starts to carry an action out; its outcome comes as an event.
    pub(crate) fn carry_out(&mut self, action: Action) {
        while self.under_way.try_join_next().is_some() {}
        let turns = match action.kind.lane() {
            Lane::Read | Lane::Write => self.writes.clone(),
            Lane::Cloud => self.cloud_calls.clone(),
            Lane::Solve => unreachable!("the solver pool carries out solves"),
        };
        let (executor, events) = (self.executor.clone(), self.events.clone());
        let (metrics, provider) = (self.metrics.clone(), self.provider.clone());
        let failures = self.failures.clone();
        self.under_way.spawn(async move {
            let begin_within = Duration::from_millis(BEGIN_WITHIN.millis());
            let Ok(_turn) = timeout(begin_within, turns.turn(action.class)).await else {
                debug!("put off: {}", words(&action));
                let event = Event::Finished { action: action.id, outcome: put_off() };
                let _ = events.send(event).await;
                return;
            };
            let since = Instant::now();
            let outcome = executor.carry_out_as(action.class, &action.kind).await;
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
        if timeout(FINISH_CALLS_WITHIN, finished).await.is_err() {
            warn!("some calls did not end in time");
        }
    }
}

/// The answer to an action that waited too long to be begun: it is decided on anew.
fn put_off() -> Outcome {
    let message = "too many calls wait; it was not begun".to_owned();
    Outcome::Failed(Failure::Unavailable { message })
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
        Outcome::PodsOn(_) => "listed",
        Outcome::Launched(_) => "launched",
        Outcome::Instances(_) => "listed",
        Outcome::Resolved(_) => "resolved",
        Outcome::Solved(_) | Outcome::Answered(_) | Outcome::Consolidated(_) => "solved",
        Outcome::ShiftNetwork(_) => "described",
        Outcome::ShiftsListed(_) => "listed",
        Outcome::Failed(_) => "failed",
    }
}
