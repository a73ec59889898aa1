//! Nodes that take no new pods because their instance may be taken back.

use std::sync::Arc;

use kerf_model::taint::unschedulable;

use crate::action::{ActionKind, CordonChange, NodePatch};
use crate::decision::Decision;
use crate::notice::NoticeKind;
use crate::observed::{Claim, Name, Node};
use crate::reason::Reason;
use crate::world::World;

/// The nodes of a claim, by name and identity.
pub(super) fn nodes_of(world: &World, claim: &Claim) -> Vec<(Name, Arc<str>)> {
    let id = claim.status.provider_id.as_deref();
    let nodes = id.into_iter().flat_map(|id| world.nodes_on_instance(id));
    nodes.map(|node| (node.meta.name.clone(), node.meta.uid.clone())).collect()
}

/// Whether all these nodes are closed, as far as they are there. Those that are not shall be.
pub(super) fn are_cordoned(
    world: &World,
    nodes: &[(Name, Arc<str>)],
    decision: &mut Decision,
) -> bool {
    let mut are_closed = true;
    for (name, uid) in nodes {
        let node = world.nodes.get(name).filter(|node| node.meta.uid == *uid);
        if node.is_some_and(|node| !is_cordoned(node)) {
            are_closed = false;
            let patch = NodePatch { cordon: CordonChange::Cordon, ..NodePatch::default() };
            let patch = ActionKind::PatchNode { name: name.clone(), uid: uid.clone(), patch };
            decision.act(patch, Reason::Announced(NoticeKind::RebalanceRecommendation));
        }
    }
    are_closed
}

fn is_cordoned(node: &Node) -> bool {
    node.taints.contains(&unschedulable())
}
