//! From an instance to a node of the cluster, as the claim sees it.

use super::super::joining::has_joined;
use super::work::Work;
use crate::condition::claim::{LAUNCHED, REGISTERED};

/// Notes that the node has joined, or why not.
pub(super) fn advance(work: &mut Work<'_>) {
    if !work.conditions.is_true(LAUNCHED) || work.conditions.is_true(REGISTERED) {
        return;
    }
    let Some(provider_id) = work.status.provider_id.clone() else { return };
    let world = work.world;
    let mut nodes = world.nodes_on_instance(&provider_id);
    match (nodes.next(), nodes.next()) {
        (None, _) => {
            let message = "no node runs on the claim's machine yet";
            work.conditions.set_unknown(REGISTERED, "NodeNotFound", message);
        }
        (Some(node), None) => {
            if has_joined(node, work.claim) {
                work.status.to_mut().node_name = Some(node.meta.name.clone());
                work.conditions.set_true(REGISTERED);
            }
        }
        (Some(one), Some(other)) => {
            let names = format!("{}, {}", one.meta.name, other.meta.name);
            let message = format!("more than one node says it runs on {provider_id}: {names}");
            work.conditions.set_false(REGISTERED, "MultipleNodesFound", &message);
        }
    }
}
