//! Solves, beside everything else: one at a time for each asker, so that a long search for nodes to
//! take away never delays pods that wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_engine::action::ActionId;
use kerf_engine::event::{Event, Failure, Outcome};
use kerf_engine::solve::{Asker, SolveRequest, is_complete};
use kerf_engine::time::{Span, Time};
use kerf_scheduler::{CancelFlag, SolverCache};
use tokio::sync::{Mutex, OwnedMutexGuard, mpsc};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout_at};
use tracing::{info, warn};

use crate::client::metrics::{Metrics, solve};

/// Solves under way, one for each asker at a time with what it read before, each stopped shortly
/// before its deadline and cancelled when it is withdrawn.
pub(crate) struct SolverPool {
    lanes: BTreeMap<Asker, Arc<Mutex<SolverCache>>>,
    events: mpsc::Sender<Event>,
    metrics: Metrics,
    under_way: BTreeMap<ActionId, CancelFlag>,
    tasks: JoinSet<ActionId>,
}

impl SolverPool {
    /// A pool that sends answers as events.
    pub(crate) fn new(events: mpsc::Sender<Event>, metrics: Metrics) -> Self {
        let lanes = Asker::ALL.map(|asker| (asker, Arc::default())).into();
        Self { lanes, events, metrics, under_way: BTreeMap::new(), tasks: JoinSet::new() }
    }

    /// Starts a solve once those of the same asker before it have ended.
    pub(crate) fn start(&mut self, id: ActionId, request: SolveRequest, now: Time) {
        self.forget_ended();
        let cancel = CancelFlag::default();
        self.under_way.insert(id, cancel.clone());
        let stop_at = Instant::now() + Duration::from_millis(request.stop_at().since(now).millis());
        let lane = self.lanes[&request.asker].clone();
        let (events, metrics) = (self.events.clone(), self.metrics.clone());
        self.tasks.spawn(async move {
            let cache = lane.lock_owned().await;
            let since = Instant::now();
            let outcome = solve_until(stop_at, request, cache, cancel).await;
            let milliseconds = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            metrics.count(solve(Span::from_millis(milliseconds)));
            log(&outcome, milliseconds);
            // The engine's task may be gone already; then nobody waits for the outcome.
            let _ = events.send(Event::Finished { action: id, outcome }).await;
            id
        });
    }

    /// Cancels a solve whose answer nobody waits for any more.
    pub(crate) fn withdraw(&mut self, id: ActionId) {
        if let Some(cancel) = self.under_way.remove(&id) {
            cancel.cancel();
        }
    }

    /// Cancels everything: the process ends, and the next leader asks again.
    pub(crate) fn stop(mut self) {
        self.under_way.values().for_each(CancelFlag::cancel);
        self.tasks.abort_all();
    }

    fn forget_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(id) = ended {
                self.under_way.remove(&id);
            }
        }
    }
}

/// Solves on a thread of its own. When its time is over the solve is told to end with what it has
/// found; it does at its next step.
async fn solve_until(
    stop_at: Instant,
    request: SolveRequest,
    mut cache: OwnedMutexGuard<SolverCache>,
    cancel: CancelFlag,
) -> Outcome {
    let flag = cancel.clone();
    let mut worker = spawn_blocking(move || {
        // What a solve that panics has read is not trusted: it is only put back after a good end.
        let mut own = std::mem::take(&mut *cache);
        let outcome = request.solve_with(&mut own, &flag);
        *cache = own;
        outcome
    });
    let solved = match timeout_at(stop_at, &mut worker).await {
        Ok(solved) => solved,
        Err(_) => {
            cancel.stop();
            worker.await
        }
    };
    solved.unwrap_or_else(|error| {
        let message = format!("the solver stopped: {error}");
        Outcome::Failed(Failure::Unavailable { message })
    })
}

fn log(outcome: &Outcome, milliseconds: u64) {
    match outcome {
        Outcome::Solved(solution) => info!(
            milliseconds,
            nodes = solution.new_nodes.len(),
            unplaced = solution.unplaced.len(),
            deferred = solution.deferred.len(),
            "found places"
        ),
        Outcome::Answered(answers) => {
            let movable = answers.iter().filter(|answer| is_complete(answer)).count();
            info!(milliseconds, nodes = answers.len(), movable, "looked for places elsewhere");
        }
        Outcome::Consolidated(plan) => info!(
            milliseconds,
            moves = plan.wave.len(),
            later = plan.later.len(),
            saving = %plan.saving,
            saving_bound = %plan.saving_bound,
            is_complete = plan.is_complete,
            "looked for nodes to consolidate"
        ),
        outcome => warn!(?outcome, milliseconds, "found no places"),
    }
}
