//! The placement problem of all waiting pods, for those who ask without acting: `kerf plan`.

use std::sync::Arc;

use kerf_scheduler::PlacementProblem;

use super::pool_choice::{self, PoolChoice};
use super::{problem, waiting};
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::PodKey;
use crate::time::Time;
use crate::world::World;

/// What a pass would ask now if it took every waiting pod at once.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// Where the pods should go.
    pub problem: PlacementProblem,
    /// Pods that are not part of the problem because no node could serve them, with the reason.
    pub unusable: Vec<(PodKey, Arc<str>)>,
    /// What would be told about pools that are left out although they are ready.
    pub kubernetes_events: Vec<KubernetesEvent>,
}

/// The problem a pass would pose, without the bound on the pods of one pass. Changes nothing.
#[must_use]
pub fn dry_run(world: &World, now: Time) -> DryRun {
    let waiting = waiting::all(world, now);
    let PoolChoice { pools, kubernetes_events } = pool_choice::choose(world);
    let unusable =
        waiting.unusable.iter().map(|(pod, reason)| (pod.key.clone(), (*reason).clone()));
    DryRun {
        problem: problem::build(world, &waiting.pods, pools, now),
        unusable: unusable.collect(),
        kubernetes_events,
    }
}
