//! The router in a pretend account: many clusters, many events, faults, and no waiting.
//!
//! The real core runs against a world in memory under virtual time, from a seed, so the same
//! simulation gives the same report. Nothing here knows more than an edge would.

mod events;
mod world;

use std::collections::BTreeMap;

use self::events::Generator;
use self::world::World;
use super::backoff::Rng;
use super::{Batch, Cost, EventLoad, Limits, Report, Router, RoutingSettings, Step};
use crate::message::Record;

/// How often things go wrong, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Calls that are throttled or fail, of every kind.
    pub calls_per_mille: u64,
    /// Single messages that a queue does not take from a batch.
    pub entries_per_mille: u64,
    /// Messages that the central queue hands out twice.
    pub duplicates_per_mille: u64,
    /// Messages that are not an event at all.
    pub garbage_per_mille: u64,
}

/// How large it is, and what goes wrong in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingSimulation {
    /// Clusters, each with a queue.
    pub clusters: usize,
    /// Events on the central queue.
    pub events: usize,
    /// Messages that are routed together.
    pub batch: usize,
    /// What goes wrong.
    pub faults: Faults,
    /// The same seed gives the same report.
    pub seed: u64,
}

/// What came of it, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulationReport {
    /// Records handed to the router, redeliveries and duplicates included.
    pub records: u64,
    /// How often each outcome and reason was given.
    pub outcomes: BTreeMap<String, u64>,
    /// Messages that cluster queues hold.
    pub deliveries: u64,
    /// Deliveries that should have been and are not.
    pub lost: u64,
    /// Deliveries to a cluster that they do not belong to.
    pub misdelivered: u64,
    /// Deliveries that a queue already had within the time in which they are not repeated.
    pub repeated: u64,
    /// Records that were delivered again after a failure.
    pub redelivered: u64,
    /// Calls to EC2.
    pub lookup_calls: u64,
    /// Calls to find queues.
    pub queue_calls: u64,
    /// Calls to send.
    pub send_calls: u64,
    /// Faults that were injected.
    pub faults: u64,
    /// What the old fan-out delivers: every event to every cluster.
    pub fan_out_deliveries: u64,
    /// What this many events a month cost, before and after.
    pub cost: Option<Cost>,
}

/// How long one call takes in the pretend account.
const CALL_MS: u64 = 20;

/// A function's time-out and the central queue's visibility time-out, as in the deployed stack.
const BATCH_TIME_MS: u64 = 10_000;
const VISIBILITY_MS: u64 = 60_000;

/// A message that fails this often stays undelivered and is reported as lost. With one call in
/// twenty failing, a hundred failures of one message in a row do not happen.
const RECEIVES_MAX: u32 = 100;

/// A message on the central queue.
struct Waiting {
    record: Record,
    receives: u32,
}

/// The central queue: messages by the moment they can be received, then by arrival.
#[derive(Default)]
struct CentralQueue {
    waiting: BTreeMap<(u64, u64), Waiting>,
    arrivals: u64,
}

impl CentralQueue {
    fn put(&mut self, waiting: Waiting, visible_at_ms: u64) {
        self.arrivals += 1;
        self.waiting.insert((visible_at_ms, self.arrivals), waiting);
    }

    /// When the next message can be received; `None` once there is none.
    fn next_ms(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|((visible_at_ms, _), _)| *visible_at_ms)
    }

    /// The first messages that can be received.
    fn take(&mut self, most: usize, now_ms: u64) -> Vec<Waiting> {
        let mut taken = Vec::new();
        while taken.len() < most
            && let Some(first) = self.waiting.first_entry()
            && first.key().0 <= now_ms
        {
            let Waiting { record, receives } = first.remove();
            taken.push(Waiting { record, receives: receives + 1 });
        }
        taken
    }
}

impl RoutingSimulation {
    /// Runs it to its end.
    pub fn run(&self) -> SimulationReport {
        let mut rng = Rng::new(self.seed);
        let mut world = World::new(self.clusters.max(1), self.faults, Rng::new(rng.next_u64()));
        let mut router = Router::new(RoutingSettings::default());
        let mut report = SimulationReport::default();
        let mut queue = self.fill(&mut world, &mut rng);
        let mut now_ms = 0;
        while let Some(next_ms) = queue.next_ms() {
            now_ms = next_ms.max(now_ms);
            let taken = queue.take(self.batch.max(1), now_ms);
            let records: Vec<_> = taken.iter().map(|waiting| waiting.record.clone()).collect();
            report.records += records.len() as u64;
            let seed = rng.next_u64();
            let limits = Limits { deadline_ms: now_ms + BATCH_TIME_MS, seed, time: None };
            let batch = Batch::open(&mut router, records, limits, now_ms);
            let done = carry_out(batch, &mut router, &mut world, &mut now_ms);
            report.add(&done);
            for (waiting, outcome) in taken.into_iter().zip(&done.outcomes) {
                if outcome.verdict.is_failure() && waiting.receives < RECEIVES_MAX {
                    report.redelivered += 1;
                    queue.put(waiting, now_ms + VISIBILITY_MS);
                }
            }
        }
        world.judge(&mut report);
        let load = EventLoad { clusters: self.clusters as u64, events: self.events as u64 };
        report.fan_out_deliveries = load.clusters * load.events;
        report.cost = Some(Cost::of(load));
        report
    }

    fn fill(&self, world: &mut World, rng: &mut Rng) -> CentralQueue {
        let mut generator = Generator::new(self.clusters.max(1), self.events);
        let mut queue = CentralQueue::default();
        for index in 0..self.events {
            let body = match rng.chance(self.faults.garbage_per_mille) {
                true => "{\"source\":".to_owned(),
                false => generator.event(index, world, rng),
            };
            let copies = if rng.chance(self.faults.duplicates_per_mille) { 2 } else { 1 };
            for copy in 0..copies {
                let record = Record { id: format!("m{index}-{copy}"), body: body.clone() };
                // A duplicate follows some seconds after its original.
                queue.put(Waiting { record, receives: 0 }, copy * 5_000);
            }
        }
        queue
    }
}

/// Does what the batch asks for until it is done.
fn carry_out(mut batch: Batch, router: &mut Router, world: &mut World, now_ms: &mut u64) -> Report {
    loop {
        match batch.step(router, *now_ms) {
            Step::Done => return batch.finish(),
            Step::WaitUntil(moment_ms) => {
                let due =
                    if batch.awaits_clusters() { router.searches_due(*now_ms) } else { vec![] };
                if due.is_empty() {
                    *now_ms = moment_ms.max(*now_ms);
                }
                for how in due {
                    *now_ms += CALL_MS;
                    let answer = world.discover();
                    router.learn_clusters(how, answer, *now_ms);
                }
            }
            Step::Ask(ask) => {
                *now_ms += CALL_MS;
                for lookup in ask.lookups {
                    let answer = world.describe(&lookup);
                    batch.learn_owners(router, lookup, answer, *now_ms);
                }
                for query in ask.queues {
                    let answer = world.queue(&query);
                    batch.learn_queue(router, query, answer, *now_ms);
                }
            }
            Step::Send(sends) => {
                *now_ms += CALL_MS;
                for send in sends {
                    let answer = world.send(&batch, &send, *now_ms);
                    batch.learn_sent(router, &send, answer, *now_ms);
                }
            }
        }
    }
}

impl SimulationReport {
    fn add(&mut self, done: &Report) {
        self.lookup_calls += done.lookup_calls;
        self.queue_calls += done.queue_calls;
        self.send_calls += done.send_calls;
        for outcome in &done.outcomes {
            let (word, reason) = (outcome.verdict.word(), outcome.verdict.reason());
            let key = if reason.is_empty() { word.into() } else { format!("{word}: {reason}") };
            *self.outcomes.entry(key).or_default() += 1;
        }
    }
}
