//! What `kerf plan` asks the scheduler, and what it leaves out.

use std::collections::{BTreeMap, BTreeSet};

use kerf_engine::kubernetes_event::KubernetesEvent;
use kerf_engine::observed::{Pod, PodKey};
use kerf_engine::{DryRun, World, dry_run};
use kerf_model::labels::well_known::NODE_POOL;
use kerf_scheduler::PlacementProblem;

use super::ObservedManifests;

/// The placement problem of manifests.
#[derive(Clone, Debug)]
pub struct PlanProblem {
    /// The controller's own problem for these objects.
    pub problem: PlacementProblem,
    /// Pods that are not placed whatever the scheduler says, in the order of their age.
    pub set_aside: Vec<SetAside>,
    /// Pods that need no place here, counted by the reason.
    pub passed_over: BTreeMap<&'static str, usize>,
    /// What was assumed of the objects, a line each.
    pub notes: Vec<String>,
    /// What the controller would tell about pools that are left out.
    pub kubernetes_events: Vec<KubernetesEvent>,
}

/// A pod that cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// The pod.
    pub pod: PodKey,
    /// Why not.
    pub reason: String,
}

impl ObservedManifests {
    /// The problem the controller would pose, once the instance types of all pools are known.
    #[must_use]
    pub fn problem(&self) -> PlanProblem {
        let world = self.world();
        let DryRun { problem, unusable, kubernetes_events } = dry_run(world, self.now);
        let outside = format!("it asks for a node outside any pool ({NODE_POOL} DoesNotExist)");
        let outside = self.outside_pools.iter().map(|pod| (pod.clone(), outside.clone()));
        let unusable = unusable.into_iter().map(|(pod, reason)| (pod, reason.to_string()));
        let mut set_aside: Vec<SetAside> =
            unusable.chain(outside).map(|(pod, reason)| SetAside { pod, reason }).collect();
        let age = |pod: &Pod| (pod.meta.created_at, pod.meta.uid.clone());
        set_aside.sort_by_key(|aside| world.pods.get(&aside.pod).map(|pod| age(pod)));
        let mut passed_over = self.passed_over.clone();
        for why in world.pods.values().filter_map(on_no_node(world, &problem)) {
            *passed_over.entry(why).or_default() += 1;
        }
        let notes = self.notes.iter().chain(&self.storage_notes).cloned().collect();
        PlanProblem { problem, set_aside, passed_over, notes, kubernetes_events }
    }
}

/// Why a pod that has a node neither stands on a node of the problem nor is placed anew, if so.
fn on_no_node<'a>(
    world: &'a World,
    problem: &'a PlacementProblem,
) -> impl FnMut(&'a std::sync::Arc<Pod>) -> Option<&'static str> {
    let nodes: BTreeSet<&str> = problem.nodes.iter().map(|node| node.name.as_str()).collect();
    let mut placed: Option<BTreeSet<&str>> = None;
    move |pod| {
        let name = pod.node()?;
        match world.nodes.get(name) {
            Some(node) if world.is_node_leaving(node) => {
                let placed = placed
                    .get_or_insert_with(|| problem.pods.iter().map(|it| it.uid.as_str()).collect());
                (!placed.contains(&*pod.meta.uid)).then_some("that leave with their node")
            }
            Some(_) if nodes.contains(&**name) => None,
            _ => Some("on nodes that were not given"),
        }
    }
}
