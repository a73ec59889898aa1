//! What each hour cost, beside the least that room for its pods could have cost.

use std::sync::Arc;

use kerf_engine::observed::{Pod, PodOwner};
use kerf_engine::time::Span;
use kerf_model::pod::Pod as ModelPod;
use kerf_scheduler::solve;

use crate::invariants::true_state::{model_pod, problem};
use crate::sim_event::SimEvent;
use crate::simulation::Simulation;

/// One hour of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hour {
    /// Nodes at its end.
    pub nodes: usize,
    /// Pods at its end, daemons left out.
    pub pods: usize,
    /// What all instances cost in it, in micro-dollars.
    pub spent_micros: u128,
    /// Less than that no instances with room for the pods of the hour could have cost, had they been
    /// there from one moment to the next; in micro-dollars.
    pub bound_micros: u128,
    /// Pods that were evicted in it to save money.
    pub evictions: u64,
}

/// The hours so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hours {
    /// Those that are over.
    pub(crate) done: Vec<Hour>,
    looks: u64,
    /// Of the hour that is not over: bounds in micro-dollars an hour.
    bounds_micros: Vec<u64>,
    spent_before_micros: u128,
    evictions_before: u64,
}

/// Between two looks. Every other one is at the pods, so each stands for the quarter of an hour
/// around it.
const LOOK_EVERY: Span = Span::from_seconds(450);
const LOOKS_PER_HOUR: u64 = 8;

impl Simulation {
    /// From now on takes down what each hour costs. Every look is a solve of all pods.
    #[must_use]
    pub fn with_hours(mut self) -> Self {
        let spent_before_micros = self.cloud.cost_micros(self.now());
        self.hours = Some(Hours { spent_before_micros, ..Hours::default() });
        self.arrange_look();
        self
    }

    /// The hours that are over, if they are taken down.
    #[must_use]
    pub fn hours(&self) -> &[Hour] {
        self.hours.as_ref().map_or(&[], |hours| &hours.done)
    }

    pub(crate) fn look_at_cost(&mut self) {
        let Some(mut hours) = self.hours.take() else { return };
        hours.looks += 1;
        if hours.looks % 2 == 1 {
            hours.bounds_micros.push(self.bound_micros_per_hour());
        }
        if hours.looks.is_multiple_of(LOOKS_PER_HOUR) {
            let spent = self.cloud.cost_micros(self.now());
            let evictions = self.checker().consolidation_evictions();
            let looks = hours.bounds_micros.len().max(1) as u128;
            let bounds = hours.bounds_micros.drain(..).map(u128::from);
            hours.done.push(Hour {
                nodes: self.store.nodes.len(),
                pods: self.movable_pods().count(),
                spent_micros: spent - hours.spent_before_micros,
                bound_micros: bounds.sum::<u128>() / looks,
                evictions: evictions - hours.evictions_before,
            });
            (hours.spent_before_micros, hours.evictions_before) = (spent, evictions);
        }
        self.hours = Some(hours);
        self.arrange_look();
    }

    fn arrange_look(&mut self) {
        self.happens_at(self.now() + LOOK_EVERY, SimEvent::LookAtCost);
    }

    /// The least that instances for all pods could cost now.
    fn bound_micros_per_hour(&self) -> u64 {
        let pods: Vec<ModelPod> = self.movable_pods().map(model_pod).collect();
        let mut problem = problem(pods, Vec::new(), &self.store, &self.cloud, &self.workloads);
        // Only the bound is asked for, which does not depend on how good the fleet is.
        problem.settings.improvement_effort = 0;
        solve(&problem).lower_bound.micros_per_hour()
    }

    fn movable_pods(&self) -> impl Iterator<Item = &Pod> {
        let is_of_node = |pod: &Pod| matches!(pod.owner, PodOwner::DaemonSet | PodOwner::Node);
        let pods = self.store.pods.values().map(Arc::as_ref);
        pods.filter(move |pod| !is_of_node(pod) && !pod.meta.is_deleting() && !pod.has_ended())
    }
}
