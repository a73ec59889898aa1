//! Nodes that are opened again: what was announced of their instances is over or called off.

use std::sync::Arc;

use kerf_model::taint::unschedulable;

use crate::action::{ActionKind, CordonChange, NodePatch};
use crate::decision::Decision;
use crate::memory::{Awaited, OpenNotice, Update};
use crate::notice::{NoticeKind, NoticeOutcome};
use crate::observed::{Name, Node};
use crate::reason::Reason;
use crate::settings::Marks;
use crate::world::World;

/// Forgets that these nodes were to be drained. Returns the outcome where there are none.
pub(super) fn begin(
    open: &OpenNotice,
    found: &[(Arc<str>, &Node)],
    decision: &mut Decision,
) -> Option<NoticeOutcome> {
    let nodes: Vec<(Name, Arc<str>)> =
        found.iter().map(|(_, node)| (node.meta.name.clone(), node.meta.uid.clone())).collect();
    if nodes.is_empty() {
        return Some(NoticeOutcome::NoNode);
    }
    let forget = |(name, _): &(Name, Arc<str>)| Update::ForgetDrain(name.clone());
    decision.updates.extend(nodes.iter().map(forget));
    let awaits = Awaited::Opening(nodes);
    decision.remember(Update::NoticeAwaits { id: open.notice.id, awaits });
    None
}

/// Whether these nodes were to be drained and no longer are: what was announced was called off.
pub(super) fn is_called_off(world: &World, nodes: &[(Name, Arc<str>)]) -> bool {
    nodes.iter().any(|(name, uid)| {
        let is_there = world.nodes.get(name).is_some_and(|node| node.meta.uid == *uid);
        is_there && !world.memory.drains.contains_key(name)
    })
}

/// Whether all these nodes are open, as far as they are there. Those that are not shall be, unless
/// something else was announced meanwhile.
pub(super) fn are_open(world: &World, nodes: &[(Name, Arc<str>)], decision: &mut Decision) -> bool {
    let mut are_open = true;
    for (name, uid) in nodes {
        let node = world.nodes.get(name).filter(|node| node.meta.uid == *uid);
        let is_wanted_again = world.memory.drains.contains_key(name);
        if let Some(node) = node.filter(|_| !is_wanted_again)
            && let Some(patch) = opening_patch(node, &world.settings.drain.marks)
        {
            are_open = false;
            let patch = ActionKind::PatchNode { name: name.clone(), uid: uid.clone(), patch };
            decision.act(patch, Reason::Announced(NoticeKind::Withdrawn));
        }
    }
    are_open
}

/// What takes every mark of the handler off a node, if there is any. Others' labels stay, whatever
/// their keys are.
fn opening_patch(node: &Node, marks: &Marks) -> Option<NodePatch> {
    let mut patch = NodePatch::default();
    if node.taints.contains(&unschedulable()) {
        patch.cordon = CordonChange::Uncordon;
    }
    for (key, own) in &marks.labels {
        let value = node.labels.get(key);
        if value.is_some_and(|value| own.as_ref().is_none_or(|own| own == value)) {
            patch.labels_removed.insert(key.clone());
        }
    }
    let is_ours = |key: &String| marks.taints.contains(key);
    let ours = node.taints.iter().filter(|taint| is_ours(&taint.key));
    patch.taints_removed.extend(ours.cloned());
    (patch != NodePatch::default()).then_some(patch)
}
