//! Nodes whose claims were announced to go are closed at once. Deletion closes them too, but only
//! once the deletions of claim and node are stored and seen, and meanwhile pods would still come.

use crate::action::ActionKind;
use crate::decision::Decision;
use crate::observed::Name;
use crate::planners::termination;
use crate::reason::Reason;
use crate::world::World;

/// Closes a node whose claim was announced to go, as its termination would. After a crash nothing
/// is known of the notice until it comes again, and the node is opened until then.
pub(in crate::planners) fn plan_node(world: &World, name: &Name) -> Decision {
    let mut decision = Decision::default();
    // One that is being deleted is drained, and closed by that.
    let Some(node) = world.nodes.get(name).filter(|node| !node.meta.is_deleting()) else {
        return decision;
    };
    let claim = world.claim_of(node);
    let announced = claim.and_then(|claim| world.memory.interrupted.get(&claim.meta.name));
    if let Some(kind) = announced
        && let Some(patch) = termination::closing_patch(world, node)
    {
        let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
        decision.act(ActionKind::PatchNode { name, uid, patch }, Reason::Announced(*kind));
    }
    decision
}
