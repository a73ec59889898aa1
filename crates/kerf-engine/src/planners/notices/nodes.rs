//! Notices about the instances of nodes, where nobody knows of claims: the nodes are drained.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::breaker::Breaker;
use super::{messages, node_lookup, opening};
use crate::decision::Decision;
use crate::memory::{Awaited, DrainReason, DrainRequest, OpenNotice, Update};
use crate::notice::{FoundNode, Notice, NoticeKind, NoticeOutcome};
use crate::observed::{Name, Node, Pod, PodOwner};
use crate::planners::drain;
use crate::time::Span;
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
    notices.iter().map(|open| read_one(world, open, breaker, decision)).collect()
}

/// Whether all these nodes are drained, as far as they are there.
pub(super) fn are_drained(world: &World, open: &OpenNotice, nodes: &[(Name, Arc<str>)]) -> bool {
    nodes.iter().all(|(name, uid)| {
        let node = world.nodes.get(name).filter(|node| node.meta.uid == *uid);
        node.is_none_or(|node| is_drained(world, open, node))
    })
}

fn read_one(
    world: &World,
    open: &OpenNotice,
    breaker: &mut Breaker,
    decision: &mut Decision,
) -> Option<NoticeOutcome> {
    let kind = open.notice.kind;
    let found = node_lookup::nodes_of(world, &open.notice);
    if kind == NoticeKind::LifecycleLaunch {
        return Some(launched(open, &found));
    }
    if kind == NoticeKind::Withdrawn {
        return opening::begin(open, &found, decision);
    }
    let mut awaits: Vec<(Name, Arc<str>)> = Vec::new();
    let (mut is_held, mut is_blocked) = (false, false);
    for (instance, node) in &found {
        decision.record(messages::announced_to(node, kind, instance));
        let mut request = request(world, open, node);
        let name = &node.meta.name;
        let known = world.memory.drains.get(name).filter(|drain| drain.uid == node.meta.uid);
        let described = described(world, open, node, known.is_some());
        let is_node_blocked = !described.blocking.is_empty() && !request.cordons_only;
        decision.found.push(described);
        let is_through = is_drained(world, open, node) || was_drained(world, node, &request);
        if is_through && !is_node_blocked {
            continue;
        }
        if known.is_none() && !request.cordons_only && !breaker.admits(name) {
            is_held = true;
            decision.record(messages::held_at(node, kind));
            continue;
        }
        let (name, uid) = (name.clone(), node.meta.uid.clone());
        is_blocked |= is_node_blocked;
        request.cordons_only |= is_node_blocked;
        awaits.push((name.clone(), uid.clone()));
        let (reason, request) = (DrainReason::Notice(kind), Box::new(request));
        decision.remember(Update::StartDrain { node: name, uid, reason, request });
    }
    match (found.is_empty(), awaits.is_empty()) {
        (true, _) => Some(NoticeOutcome::NoNode),
        (false, _) if is_held => Some(NoticeOutcome::Held),
        (false, _) if is_blocked => Some(NoticeOutcome::Blocked),
        (false, true) => Some(NoticeOutcome::Drained),
        (false, false) => {
            let awaits = Awaited::Drain(awaits);
            decision.remember(Update::NoticeAwaits { id: open.notice.id, awaits });
            None
        }
    }
}

/// An instance can be used once its node says so; one that has no node yet says nothing.
fn launched(open: &OpenNotice, found: &[(Arc<str>, &Node)]) -> NoticeOutcome {
    let is_ready = |instance: &Arc<str>| {
        found.iter().any(|(of, node)| of == instance && node.is_ready && !node.meta.is_deleting())
    };
    match open.notice.instances.iter().all(is_ready) {
        true => NoticeOutcome::Ready,
        false => NoticeOutcome::NotReady,
    }
}

/// A notice that comes again finds the node drained, unless somebody opened it to pods since.
fn is_drained(world: &World, open: &OpenNotice, node: &Node) -> bool {
    let Notice { kind, handling, .. } = &open.notice;
    let drain = world.memory.drains.get(&node.meta.name);
    let drain = drain.filter(|drain| drain.uid == node.meta.uid);
    let request = drain.and_then(|drain| drain.requests.get(&DrainReason::Notice(*kind)));
    request.is_some_and(|request| {
        request.drained_at.is_some()
            && (handling.cordons_only || !request.cordons_only)
            && node.taints.contains(&request.closing.taint())
    })
}

/// Whether the node was drained for another reason, still is, and lacks nothing this one asks for.
fn was_drained(world: &World, node: &Node, request: &DrainRequest) -> bool {
    let drain = world.memory.drains.get(&node.meta.name);
    let drain = drain.filter(|drain| drain.uid == node.meta.uid);
    let is_done = drain.is_some_and(|drain| {
        let done = |other: &DrainRequest| {
            other.drained_at.is_some() && (request.cordons_only || !other.cordons_only)
        };
        drain.requests.values().any(done)
    });
    is_done && drain::lacks_nothing(world, node, request)
}

fn request(world: &World, open: &OpenNotice, node: &Node) -> DrainRequest {
    let settings = &world.settings.drain;
    let handling = &open.notice.handling;
    let is_taken = matches!(
        open.notice.kind,
        NoticeKind::SpotInterrupted | NoticeKind::CapacityReservationInterrupted
    );
    let missing = |key: &String| !node.labels.contains_key(key);
    let mut labels: BTreeMap<_, _> =
        settings.label.iter().filter(|(key, _)| missing(key)).cloned().collect();
    labels.extend(handling.labels.clone());
    if !node.taints.contains(&settings.closing.taint()) {
        labels.extend(handling.labels_if_open.clone());
    }
    let is_new = |key: &str| !node.taints.iter().any(|taint| taint.key == key);
    DrainRequest {
        closing: settings.closing.clone(),
        labels,
        taints: handling.taints.iter().filter(|taint| is_new(&taint.key)).cloned().collect(),
        cordons_only: handling.cordons_only,
        keeps: settings.own_pod.clone(),
        evicts_protected: settings.evicts_protected,
        deadline: handling.deadline.or(is_taken.then_some(open.at + INTERRUPTED_AFTER)),
        forces_pods: settings.forces_pods,
        drained_at: None,
    }
}

fn described(world: &World, open: &OpenNotice, node: &Node, is_known: bool) -> FoundNode {
    let pods = || world.pods_on(&node.meta.name).filter(|pod| pod.owner != PodOwner::Node);
    let keys = |of_daemon_set: bool| {
        let of = pods().filter(|pod| (pod.owner == PodOwner::DaemonSet) == of_daemon_set);
        of.map(|pod| pod.key.clone()).collect()
    };
    let settings = &world.settings.drain;
    let is_own = |pod: &Pod| settings.own_pod.as_ref() == Some(&pod.key);
    let blocking = pods().filter(|pod| settings.blocking.contain(pod) && !is_own(pod));
    FoundNode {
        id: open.notice.id,
        name: node.meta.name.clone(),
        uid: node.meta.uid.clone(),
        provider_id: node.provider_id.clone(),
        labels: node.labels.clone(),
        is_known,
        leaving: keys(false),
        staying: keys(true),
        blocking: blocking.map(|pod| pod.key.clone()).collect(),
    }
}
