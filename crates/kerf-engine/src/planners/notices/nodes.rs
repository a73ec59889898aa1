//! Notices about the instances of nodes, where nobody knows of claims: the nodes are drained.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::breaker::Breaker;
use super::{ByInstance, by_instance, messages};
use crate::decision::Decision;
use crate::memory::{Awaited, DrainReason, DrainRequest, OpenNotice, Update};
use crate::notice::{NoticeKind, NoticeOutcome};
use crate::observed::{Name, Node};
use crate::time::{Span, Time};
use crate::world::World;

/// How long before it takes an instance AWS says so, at most.
const INTERRUPTED_AFTER: Span = Span::from_minutes(2);

/// The first look at these notices: records Events, and asks for the drain of their nodes. Returns
/// the outcome of each; `None` for one that takes time.
pub(super) fn read(
    world: &World,
    notices: &[&OpenNotice],
    breaker: &mut Breaker,
    decision: &mut Decision,
) -> Vec<Option<NoticeOutcome>> {
    let found = by_instance(notices, |id| world.nodes_with_instance_id(id).collect());
    notices.iter().map(|open| read_one(world, open, &found, breaker, decision)).collect()
}

/// Whether all these nodes are drained, as far as they are there.
pub(super) fn are_drained(world: &World, open: &OpenNotice, nodes: &[(Name, Arc<str>)]) -> bool {
    nodes.iter().all(|(name, uid)| {
        let node = world.nodes.get(name).filter(|node| node.meta.uid == *uid);
        node.is_none_or(|node| is_drained(world, open.notice.kind, node))
    })
}

fn read_one(
    world: &World,
    open: &OpenNotice,
    found: &ByInstance<'_, Node>,
    breaker: &mut Breaker,
    decision: &mut Decision,
) -> Option<NoticeOutcome> {
    let kind = open.notice.kind;
    let mut awaits: Vec<(Name, Arc<str>)> = Vec::new();
    let (mut is_ours, mut is_held) = (false, false);
    for instance in &open.notice.instances {
        for node in found.get(&**instance).into_iter().flatten() {
            is_ours = true;
            decision.record(messages::announced_to(node, kind, instance));
            let name = &node.meta.name;
            if is_drained(world, kind, node) {
                continue;
            }
            let is_draining =
                world.memory.drains.get(name).is_some_and(|it| it.uid == node.meta.uid);
            if !is_draining && !breaker.admits(name) {
                is_held = true;
                decision.record(messages::held_at(node, kind));
            } else {
                let (name, uid) = (node.meta.name.clone(), node.meta.uid.clone());
                awaits.push((name.clone(), uid.clone()));
                let reason = DrainReason::Notice(kind);
                let request = Box::new(request(world, kind, open.at));
                decision.remember(Update::StartDrain { node: name, uid, reason, request });
            }
        }
    }
    match (is_ours, awaits.is_empty()) {
        (false, _) => Some(NoticeOutcome::NoNode),
        (true, _) if is_held => Some(NoticeOutcome::Held),
        (true, true) => Some(NoticeOutcome::Drained),
        (true, false) => {
            let awaits = Awaited::Drain(awaits);
            decision.remember(Update::NoticeAwaits { id: open.notice.id, awaits });
            None
        }
    }
}

/// A notice that comes again finds the node drained, unless somebody opened it to pods since.
fn is_drained(world: &World, kind: NoticeKind, node: &Node) -> bool {
    let drain = world.memory.drains.get(&node.meta.name);
    let drain = drain.filter(|drain| drain.uid == node.meta.uid);
    let request = drain.and_then(|drain| drain.requests.get(&DrainReason::Notice(kind)));
    request.is_some_and(|request| {
        request.drained_at.is_some() && node.taints.contains(&request.closing.taint())
    })
}

fn request(world: &World, kind: NoticeKind, at: Time) -> DrainRequest {
    let settings = &world.settings.drain;
    let is_taken =
        matches!(kind, NoticeKind::SpotInterrupted | NoticeKind::CapacityReservationInterrupted);
    DrainRequest {
        closing: settings.closing.clone(),
        labels: BTreeMap::new(),
        deadline: is_taken.then_some(at + INTERRUPTED_AFTER),
        forces_pods: settings.forces_pods,
        drained_at: None,
    }
}
