//! A router with an executor: records in, verdicts out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use kerf_notices::message::Record;
use kerf_notices::routing::{
    Ask, Batch, CallFailure, Discovery, Limits, Report, Router, RoutingSettings, SendBatch, Step,
};
use kerf_notices::zonal_shift::UnixSeconds;
use kerf_runtime::clock;
use tokio::task::JoinSet;
use tracing::warn;

use crate::Executor;

/// Calls under way at once. SQS and EC2 both allow far more; connections are what it costs.
const CALLS_AT_ONCE: usize = 16;

/// The longest single wait; timers have a bound of their own.
const WAIT_MS_MAX: u64 = 3_600_000;

/// Names of clusters and URLs of their queues, or why nobody can say.
type Clusters = Result<Vec<(String, String)>, CallFailure>;

/// Routes batches one after the other, so that what one has sent the next one knows.
#[derive(Debug)]
pub struct Routing {
    router: Router,
    executor: Arc<Executor>,
    /// Searches for clusters that are under way, beside whatever is routed.
    searches: JoinSet<(Discovery, Clusters)>,
    started: Instant,
}

impl Routing {
    /// A router that remembers nothing yet.
    pub fn new(settings: RoutingSettings, executor: Executor) -> Self {
        Self {
            router: Router::new(settings),
            executor: Arc::new(executor),
            searches: JoinSet::new(),
            started: Instant::now(),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How many owners of instances are remembered.
    pub fn remembered_instances(&self) -> usize {
        self.router.remembered_instances()
    }

    /// Routes records within a time. It never fails: each record has its verdict.
    pub async fn route(&mut self, records: Vec<Record>, at_most: Duration) -> Report {
        let now_ms = self.now_ms();
        let time_ms = u64::try_from(at_most.as_millis()).unwrap_or(u64::MAX);
        // Any number that differs between routers started at different moments will do.
        let seed = now_ms ^ u64::from(self.started.elapsed().subsec_nanos());
        let time = UnixSeconds::new(clock::now().as_second());
        let limits = Limits { deadline_ms: now_ms.saturating_add(time_ms), seed, time };
        let mut batch = Batch::open(&mut self.router, records, limits, now_ms);
        loop {
            let now_ms = self.now_ms();
            match batch.step(&mut self.router, now_ms) {
                Step::Done => return batch.finish(),
                Step::WaitUntil(moment_ms) => {
                    if batch.awaits_clusters() {
                        self.begin_searches();
                    }
                    self.wait_until(moment_ms).await;
                }
                Step::Ask(ask) => self.ask(&mut batch, ask).await,
                Step::Send(sends) => self.send(&mut batch, sends).await,
            }
        }
    }

    /// Searches for clusters when it is time to, until this future is dropped. Nobody has to wait
    /// for a search if this runs whenever nothing is routed.
    pub async fn search_for_clusters(&mut self) {
        loop {
            self.begin_searches();
            let moment_ms = self.router.next_search_ms().unwrap_or(u64::MAX);
            self.wait_until(moment_ms).await;
        }
    }

    fn begin_searches(&mut self) {
        for how in self.router.searches_due(self.now_ms()) {
            let executor = Arc::clone(&self.executor);
            self.searches.spawn(async move { (how, executor.discover(how).await) });
        }
    }

    /// Waits until a moment, or until a search has ended.
    async fn wait_until(&mut self, moment_ms: u64) {
        let wait_ms = moment_ms.saturating_sub(self.now_ms()).clamp(1, WAIT_MS_MAX);
        let ended = tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(wait_ms)) => return,
            Some(ended) = self.searches.join_next() => ended,
        };
        match ended {
            Ok((how, answer)) => {
                if let Err(failure) = &answer {
                    warn!("could not search for clusters: {failure}");
                }
                let now_ms = self.now_ms();
                self.router.learn_clusters(how, answer, now_ms);
            }
            // The router begins another once this one counts as lost.
            Err(error) => warn!("a search for clusters ended: {error}"),
        }
    }

    async fn ask(&mut self, batch: &mut Batch, ask: Ask) {
        let executor = &self.executor;
        let lookups = stream::iter(ask.lookups)
            .map(|lookup| async move { (executor.look_up(&lookup).await, lookup) })
            .buffer_unordered(CALLS_AT_ONCE)
            .collect::<Vec<_>>();
        let queues = stream::iter(ask.queues)
            .map(|query| async move { (executor.find(&query).await, query) })
            .buffer_unordered(CALLS_AT_ONCE)
            .collect::<Vec<_>>();
        let (lookups, queues) = tokio::join!(lookups, queues);
        let now_ms = self.now_ms();
        for (answer, lookup) in lookups {
            batch.learn_owners(&mut self.router, lookup, answer, now_ms);
        }
        for (answer, query) in queues {
            batch.learn_queue(&mut self.router, query, answer, now_ms);
        }
    }

    async fn send(&mut self, batch: &mut Batch, sends: Vec<SendBatch>) {
        let (executor, sending) = (&self.executor, &*batch);
        let answers = stream::iter(sends)
            .map(|send| async move { (executor.send(sending, &send).await, send) })
            .buffer_unordered(CALLS_AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        let now_ms = self.now_ms();
        for (answer, send) in answers {
            batch.learn_sent(&mut self.router, &send, answer, now_ms);
        }
    }
}
