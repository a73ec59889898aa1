//! A router with a executor: records in, verdicts out.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use kerf_notices::message::Record;
use kerf_notices::routing::{Ask, Batch, Limits, Report, Router, RoutingSettings, SendBatch, Step};

use crate::Executor;

/// Calls under way at once. SQS and EC2 both allow far more; connections are what it costs.
const CALLS_AT_ONCE: usize = 16;

/// Routes batches one after the other, so that what one has sent the next one knows.
#[derive(Debug)]
pub struct Routing {
    router: Router,
    executor: Executor,
    started: Instant,
}

impl Routing {
    /// A router that remembers nothing yet.
    pub fn new(settings: RoutingSettings, executor: Executor) -> Self {
        Self { router: Router::new(settings), executor, started: Instant::now() }
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
        let limits = Limits { deadline_ms: now_ms.saturating_add(time_ms), seed };
        let mut batch = Batch::open(&mut self.router, records, limits, now_ms);
        loop {
            let now_ms = self.now_ms();
            match batch.step(&mut self.router, now_ms) {
                Step::Done => return batch.finish(),
                Step::WaitUntil(moment_ms) => {
                    let wait = Duration::from_millis(moment_ms.saturating_sub(now_ms).max(1));
                    tokio::time::sleep(wait).await;
                }
                Step::Ask(ask) => self.ask(&mut batch, ask).await,
                Step::Send(sends) => self.send(&mut batch, sends).await,
            }
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
        let discoveries = stream::iter(ask.discoveries)
            .map(|how| async move { (executor.discover(how).await, how) })
            .buffer_unordered(CALLS_AT_ONCE)
            .collect::<Vec<_>>();
        let (lookups, queues, discoveries) = tokio::join!(lookups, queues, discoveries);
        let now_ms = self.now_ms();
        for (answer, lookup) in lookups {
            batch.learn_owners(&mut self.router, lookup, answer, now_ms);
        }
        for (answer, query) in queues {
            batch.learn_queue(&mut self.router, query, answer, now_ms);
        }
        for (answer, how) in discoveries {
            batch.learn_clusters(&mut self.router, how, answer, now_ms);
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
