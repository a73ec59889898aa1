//! What came of a simulation.

use std::collections::BTreeMap;

use kerf_engine::time::Span;

use crate::binder::Waits;
use crate::hours::Hour;
use crate::invariants::Violation;
use crate::simulation::Simulation;

/// What came of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How long it lasted, in its own time.
    pub lasted: Span,
    /// How many things happened.
    pub steps: u64,
    /// How many instances were launched.
    pub launches: u64,
    /// What all instances cost, in micro-dollars.
    pub spent_micros: u128,
    /// Nodes at the end.
    pub nodes: usize,
    /// Pods without a node at the end.
    pub pending: usize,
    /// Pods that were ready at the end.
    pub running: usize,
    /// How long pods waited for a node.
    pub waits: Waits,
    /// The most nodes there were at once.
    pub nodes_max: usize,
    /// How often each kind of action was ordered.
    pub actions: BTreeMap<&'static str, u64>,
    /// How often each Event was published, by its reason.
    pub kubernetes_events: BTreeMap<&'static str, u64>,
    /// How often calls failed.
    pub failures: BTreeMap<&'static str, u64>,
    /// How often something went wrong.
    pub faults: BTreeMap<&'static str, u64>,
    /// What each hour cost, if [hours are taken down](Simulation::with_hours).
    pub hours: Vec<Hour>,
    /// How many pods were evicted to save money.
    pub consolidation_evictions: u64,
    /// What went against the rules.
    pub violations: Vec<Violation>,
    /// A number that two runs only share if all their actions were the same.
    pub fingerprint: u64,
}

impl Report {
    /// What came of a simulation so far.
    #[must_use]
    pub fn of(simulation: &Simulation) -> Self {
        let trace = &simulation.trace;
        Self {
            lasted: simulation.elapsed(),
            steps: simulation.steps(),
            launches: simulation.cloud.launches(),
            spent_micros: simulation.cloud.cost_micros(simulation.now()),
            nodes: simulation.store.nodes.len(),
            pending: simulation.pending_count(),
            running: simulation.store.pods.values().filter(|pod| pod.is_ready).count(),
            waits: simulation.binder.waits,
            nodes_max: simulation.nodes_max(),
            actions: trace.actions.clone(),
            kubernetes_events: trace.kubernetes_events.clone(),
            failures: trace.failures.clone(),
            faults: trace.faults.clone(),
            hours: simulation.hours().to_vec(),
            consolidation_evictions: simulation.checker().consolidation_evictions(),
            violations: simulation.checker().violations.clone(),
            fingerprint: trace.fingerprint,
        }
    }
}
