//! What a day costs in calls, and whether anything is lost in it.

use kerf_notices::routing::{Faults, RoutingSimulation};

use crate::account::Account;

const CLUSTERS: usize = 20;
const EVENTS: usize = 100_000;
const FIVE_PERCENT: Faults = Faults {
    calls_per_mille: 50,
    entries_per_mille: 50,
    duplicates_per_mille: 50,
    garbage_per_mille: 10,
};

/// The simulation with faults, and the calls to EC2 of a thousand events about a thousand instances.
pub(crate) fn report() -> serde_json::Value {
    let simulation = RoutingSimulation {
        clusters: CLUSTERS,
        events: EVENTS,
        batch: crate::account::BATCH,
        faults: FIVE_PERCENT,
        seed: 1,
    };
    let done = simulation.run();
    let calls = |batch: usize| {
        let mut account = Account::cold();
        let cold = account.lookups_for(1_000, batch);
        serde_json::json!({"batch": batch, "cold": cold, "warm": account.lookups_for(1_000, batch)})
    };
    serde_json::json!({
        "clusters": CLUSTERS, "events": EVENTS, "faults": done.faults,
        "deliveries": done.deliveries, "fan_out": done.fan_out_deliveries,
        "lost": done.lost, "misdelivered": done.misdelivered, "repeated": done.repeated,
        "redelivered": done.redelivered, "lookup_calls": done.lookup_calls,
        "calls": [calls(100), calls(200), calls(1_000)],
    })
}
