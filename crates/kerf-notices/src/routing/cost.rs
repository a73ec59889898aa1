//! What routing costs a month, beside what a set of rules for each cluster costs.
//!
//! A message in a queue is sent (1 request), received (⅕: ten at a time, half full) and deleted
//! (1). An idle queue that is long-polled sees a receive every 20 s: 131,490 a month.

use std::fmt;

/// How many clusters there are and how many events a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventLoad {
    /// Clusters in the account and region.
    pub clusters: u64,
    /// Events a month that the rules let through.
    pub events: u64,
}

/// Millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(pub u128);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // To the nearest cent.
        let cents = (self.0 + 5_000) / 10_000;
        write!(f, "{}.{:02}", cents / 100, cents % 100)
    }
}

/// The monthly costs of three ways to bring events to clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// A set of rules for each cluster: every event goes to every cluster.
    pub rules_per_cluster: Micros,
    /// Rules call the router's function for each event.
    pub router_direct: Micros,
    /// Rules fill a central queue, and the router's function takes 50 events at a time.
    pub router_central: Micros,
    /// Messages delivered to cluster queues with a set of rules for each cluster.
    pub deliveries_before: u128,
    /// Messages delivered to cluster queues by the router.
    pub deliveries_after: u128,
}

const IDLE_RECEIVES_PER_QUEUE: u128 = 131_490;

// Prices of us-east-1 in picodollars. A request to SQS: $0.40 a million. A call of a function:
// $0.20 a million, and $0.0000133 per GB-second at 128 MB, for 50 ms direct and 150 ms a batch.
const REQUEST_PICOS: u128 = 400_000;
const CALL_PICOS: u128 = 200_000;
const DIRECT_RUN_PICOS: u128 = 83_125;
const BATCH_RUN_PICOS: u128 = 249_375;
const EVENTS_PER_BATCH: u128 = 50;
const PICOS_PER_MICRO: u128 = 1_000_000;

impl Cost {
    /// The arithmetic.
    pub fn of(load: EventLoad) -> Self {
        let (clusters, events) = (u128::from(load.clusters), u128::from(load.events));
        let idle = IDLE_RECEIVES_PER_QUEUE * clusters;
        // Tenths of requests, so that 1.2, 1.3 and 2.2 stay whole numbers.
        let requests = |tenths: u128| REQUEST_PICOS * (tenths / 10 + idle);
        let direct = events * (CALL_PICOS + DIRECT_RUN_PICOS) + requests(22 * events);
        let batches = events * (CALL_PICOS + BATCH_RUN_PICOS) / EVENTS_PER_BATCH;
        let central = batches + requests((12 + 13) * events);
        Self {
            rules_per_cluster: Micros(requests(22 * clusters * events) / PICOS_PER_MICRO),
            router_direct: Micros(direct / PICOS_PER_MICRO),
            router_central: Micros(central / PICOS_PER_MICRO),
            deliveries_before: clusters * events,
            deliveries_after: events,
        }
    }
}
