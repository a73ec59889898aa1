//! How urgent an action is, by what is known of its subject.

use super::drain;
use crate::action::{ActionClass, ActionKind};
use crate::observed::{ClaimStatus, Name, PoolStatus};
use crate::world::World;

/// How urgent an action is.
pub(crate) fn class_of(world: &World, kind: &ActionKind) -> ActionClass {
    let urgent_if = |is_urgent| match is_urgent {
        true => ActionClass::Urgent,
        false => ActionClass::Normal,
    };
    match kind {
        ActionKind::DeletePod { .. } | ActionKind::Terminate { .. } => ActionClass::Urgent,
        ActionKind::EvictPod { pod, .. } => {
            let node = world.pods.get(pod).and_then(|pod| pod.node());
            urgent_if(node.is_some_and(|node| is_urgent_node(world, node)))
        }
        ActionKind::PatchNode { name, patch, .. }
            if patch.closes() && is_urgent_node(world, name) =>
        {
            ActionClass::Closing
        }
        ActionKind::PatchNode { name, .. }
        | ActionKind::DeleteNode { name, .. }
        | ActionKind::ConfirmDrained { node: name, .. } => urgent_if(is_urgent_node(world, name)),
        ActionKind::DeleteClaim { name, .. } | ActionKind::PatchClaim { name, .. } => {
            urgent_if(is_interrupted(world, name))
        }
        ActionKind::WriteClaimStatus { name, .. } if is_interrupted(world, name) => {
            ActionClass::Urgent
        }
        ActionKind::WriteClaimStatus { name, status, .. }
            if only_notes_pods(world, name, status) =>
        {
            ActionClass::Background
        }
        ActionKind::WritePoolStatus { name, status, .. } if only_counts(world, name, status) => {
            ActionClass::Background
        }
        ActionKind::WriteOverlayStatus { .. } | ActionKind::TagInstance { .. } => {
            ActionClass::Background
        }
        _ => ActionClass::Normal,
    }
}

/// Whether a node will be gone at a known time, or was announced to go.
fn is_urgent_node(world: &World, name: &Name) -> bool {
    let Some(node) = world.nodes.get(name) else { return false };
    let claim = world.claim_of(node);
    claim.is_some_and(|claim| is_interrupted(world, &claim.meta.name))
        || drain::NodeDrain::of(world, node).is_some_and(|drain| drain.deadline().is_some())
}

fn is_interrupted(world: &World, claim: &Name) -> bool {
    world.memory.interrupted.contains_key(claim)
}

/// Whether nothing but the time of the last pod event changes: busy nodes want it written all the
/// time.
fn only_notes_pods(world: &World, name: &Name, status: &ClaimStatus) -> bool {
    world.claims.get(name).is_some_and(|claim| {
        let last_pod_event_at = status.last_pod_event_at;
        ClaimStatus { last_pod_event_at, ..claim.status.clone() } == *status
    })
}

/// Whether nothing but a pool's counters changes.
fn only_counts(world: &World, name: &Name, status: &PoolStatus) -> bool {
    world.pools.get(name).is_some_and(|pool| pool.status.conditions == status.conditions)
}
