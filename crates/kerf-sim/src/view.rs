//! The cluster at one moment, for a person.

use std::sync::Arc;

use kerf_engine::condition::claim::{INITIALIZED, LAUNCHED};
use kerf_engine::observed::{Claim, PodOwner};
use kerf_engine::time::Span;
use kerf_model::labels::well_known::{CAPACITY_TYPE, ZONE};
use kerf_model::price::Price;

use crate::scenario::WorkloadKind;
use crate::simulation::Simulation;

/// The cluster at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// How long the simulation has been running.
    pub elapsed: Span,
    /// The nodes there are and those on their way, oldest first.
    pub nodes: Vec<NodeView>,
    /// The workloads, in the order of the scenario.
    pub workloads: Vec<WorkloadView>,
    /// What the instances cost together now.
    pub price: Price,
    /// What was spent so far, in micro-dollars.
    pub spent_micros: u128,
}

/// A claim with its instance and node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeView {
    /// The claim.
    pub name: Arc<str>,
    /// Its pool.
    pub pool: String,
    /// The kind of instance, once there is one.
    pub instance_type: Option<String>,
    /// Where it stands.
    pub zone: Option<String>,
    /// How it is paid for.
    pub capacity_type: Option<String>,
    /// What it costs.
    pub price: Option<Price>,
    /// How far it has come.
    pub phase: Phase,
    /// Pods on it, daemons left out.
    pub pods: usize,
    /// How much of its processors is asked for, in thousandths.
    pub cpu_permille: u32,
    /// How much of its memory is asked for, in thousandths.
    pub memory_permille: u32,
}

/// How far a claim has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// No instance yet.
    Wanted,
    /// An instance, but no node that can be used.
    Booting,
    /// A node in use.
    Ready,
    /// Its node has fallen silent.
    Lost,
    /// On its way out.
    Leaving,
}

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadView {
    /// Its name.
    pub name: Arc<str>,
    /// How many pods it wants; none where the nodes decide.
    pub wanted: Option<u32>,
    /// Pods without a node.
    pub pending: usize,
    /// Pods on a node that are not ready yet.
    pub starting: usize,
    /// Pods that are ready.
    pub running: usize,
    /// Pods on their way out.
    pub leaving: usize,
}

impl Simulation {
    /// Looks at the cluster.
    #[must_use]
    pub fn view(&self) -> View {
        let mut claims: Vec<&Claim> = self.store.claims.values().map(Arc::as_ref).collect();
        claims.sort_by_key(|claim| (claim.meta.created_at, claim.meta.name.clone()));
        View {
            elapsed: self.elapsed(),
            nodes: claims.into_iter().map(|claim| self.node_view(claim)).collect(),
            workloads: self.workload_views(),
            price: self.cloud.price(),
            spent_micros: self.cloud.cost_micros(self.now()),
        }
    }

    fn node_view(&self, claim: &Claim) -> NodeView {
        let node = self.store.node_of(claim);
        let instance =
            claim.status.provider_id.as_ref().and_then(|id| self.cloud.instances.get(id));
        let capacity = node.and_then(|node| self.binder.capacity_of(&node.meta.name));
        let (cpu_permille, memory_permille) =
            capacity.map_or((0, 0), |(left, whole)| left.used_of(whole));
        let pods = node.map_or(0, |node| {
            let pods = self.store.pods_on(&node.meta.name);
            pods.filter(|pod| pod.owner != PodOwner::DaemonSet).count()
        });
        let conditions = &claim.status.conditions;
        let phase = if claim.meta.is_deleting() {
            Phase::Leaving
        } else if !conditions.is_true(LAUNCHED) {
            Phase::Wanted
        } else if !conditions.is_true(INITIALIZED) {
            Phase::Booting
        } else if node.is_some_and(|node| node.is_ready) {
            Phase::Ready
        } else {
            Phase::Lost
        };
        NodeView {
            name: claim.meta.name.clone(),
            pool: claim.pool().unwrap_or_default().to_owned(),
            instance_type: instance.map(|instance| instance.instance_type.clone()),
            zone: claim.label(ZONE).map(str::to_owned),
            capacity_type: claim.label(CAPACITY_TYPE).map(str::to_owned),
            price: instance.map(|instance| instance.price),
            phase,
            pods,
            cpu_permille,
            memory_permille,
        }
    }

    fn workload_views(&self) -> Vec<WorkloadView> {
        let view = |keeper: &crate::controllers::Keeper| {
            let bound = |key| {
                let pod = self.store.pods.get(key);
                pod.is_some_and(|pod| pod.node().is_some())
            };
            let running = keeper.ready.len();
            let on_nodes = keeper.active.iter().filter(|key| bound(key)).count();
            WorkloadView {
                name: keeper.workload.name.clone(),
                wanted: match keeper.workload.kind {
                    WorkloadKind::DaemonSet => None,
                    _ => Some(keeper.wanted),
                },
                pending: keeper.active.len() - on_nodes,
                starting: on_nodes - running,
                running,
                leaving: keeper.all.len() - keeper.active.len(),
            }
        };
        self.workloads.iter().map(view).collect()
    }
}
