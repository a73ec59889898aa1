//! How many events a second one core routes: parsing, owners, queues, batches and verdicts.
//!
//! `cargo run --release -p kerf-notices --example router_throughput`

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kerf_notices::message::{Input, Record, recognise};
use kerf_notices::routing::{Batch, EntryOutcome, Limits, Router, Settings, Step, TaggedInstance};

const INSTANCES: usize = 20_000;
const CLUSTERS: usize = 20;
const BATCH: usize = 100;
const EVENTS: usize = 1_000_000;
const LAP: usize = 10_000;

fn main() {
    let mut router = Router::new(Settings::default());
    route_all(&mut router, batches(0..INSTANCES), 0);
    for _ in 0..3 {
        measure("bodies", &mut router, |batch| batch, |batch| batch);
        measure(
            "Lambda payloads",
            &mut router,
            |batch| payload(&batch),
            |payload| match recognise(&payload) {
                Ok(Input::Batch(records)) => records,
                other => panic!("not a batch: {other:?}"),
            },
        );
    }
}

/// Routes a million events with a warm cache. What a queue would hand over is made before the
/// clock runs, a few batches at a time, as they would arrive.
fn measure<T>(
    what: &str,
    router: &mut Router,
    make: impl Fn(Vec<Record>) -> T,
    read: impl Fn(T) -> Vec<Record>,
) {
    let (mut routed, mut spent) = (0, Duration::ZERO);
    for lap in 0..EVENTS / LAP {
        let made: Vec<_> = batches(lap * LAP..(lap + 1) * LAP).into_iter().map(&make).collect();
        let clock = Clock::start();
        routed += route_all(router, made.into_iter().map(&read), lap as u64);
        spent += clock.elapsed();
    }
    let per_second = routed as u128 * 1_000_000 / spent.as_micros().max(1);
    println!(
        "{what}: {routed} events in {} ms, {per_second} events/s on one core",
        spent.as_millis(),
    );
}

/// Time this process spent on a core, where the kernel tells: other programs of a shared machine
/// then do not count.
struct Clock {
    on_core: Option<Duration>,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { on_core: on_core(), wall: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.on_core, on_core()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }
}

fn on_core() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn route_all(
    router: &mut Router,
    batches: impl IntoIterator<Item = Vec<Record>>,
    now_ms: u64,
) -> usize {
    let mut routed = 0;
    for records in batches {
        let limits = Limits { deadline_ms: now_ms + 10_000, seed: 1 };
        let mut batch = Batch::open(router, records, limits, now_ms);
        loop {
            match batch.step(router, now_ms) {
                Step::Done => break,
                Step::WaitUntil(_) => unreachable!("nothing fails here"),
                Step::Ask(ask) => answer(router, &mut batch, ask, now_ms),
                Step::Send(sends) => {
                    for send in sends {
                        let stored = send.entries.iter();
                        let stored = stored.map(|id| (*id, EntryOutcome::Accepted)).collect();
                        batch.learn_sent(router, &send, Ok(stored), now_ms);
                    }
                }
            }
        }
        let report = batch.finish();
        assert_eq!(report.failures().count(), 0);
        routed += report.outcomes.iter().filter(|one| one.verdict.word() == "routed").count();
    }
    routed
}

fn answer(router: &mut Router, batch: &mut Batch, ask: kerf_notices::routing::Ask, now_ms: u64) {
    for lookup in ask.lookups {
        let tagged = lookup.ids.iter().enumerate().map(|(index, id)| {
            let name = format!("cluster-{}", index % CLUSTERS);
            TaggedInstance { id: *id, tags: vec![("eks:eks-cluster-name".to_owned(), name)] }
        });
        let tagged = tagged.collect();
        batch.learn_owners(router, lookup, Ok(tagged), now_ms);
    }
    for question in ask.queues {
        let url = format!("https://sqs.eu-west-1.amazonaws.com/111122223333/{question:?}");
        batch.learn_queue(router, question, Ok(Some(url)), now_ms);
    }
}

/// Events as EventBridge sends them, about 400 bytes each.
fn batches(indexes: std::ops::Range<usize>) -> Vec<Vec<Record>> {
    let record = |index: usize| {
        let instance = format!("i-0{:016x}", index % INSTANCES);
        // A new id each time, so that nothing is taken for a duplicate.
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let body = format!(
            r#"{{"version":"0","id":"00000000-0000-4000-8000-{serial:012x}","detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","account":"111122223333","time":"2026-11-01T00:00:00Z","region":"eu-west-1","resources":["arn:aws:ec2:eu-west-1b:instance/{instance}"],"detail":{{"instance-id":"{instance}","instance-action":"terminate"}}}}"#
        );
        Record { id: format!("{index:036}"), body }
    };
    let indexes: Vec<_> = indexes.collect();
    indexes.chunks(BATCH).map(|chunk| chunk.iter().map(|index| record(*index)).collect()).collect()
}

static SERIAL: AtomicU64 = AtomicU64::new(0);

fn payload(batch: &[Record]) -> String {
    let records: Vec<_> = batch
        .iter()
        .map(|record| {
            serde_json::json!({"messageId": record.id, "receiptHandle": "r".repeat(180),
            "body": record.body, "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {}, "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:eu-west-1:111122223333:central"})
        })
        .collect();
    serde_json::json!({ "Records": records }).to_string()
}
