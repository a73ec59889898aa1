//! Which pods need a place.

use std::sync::Arc;

use kerf_model::pod::Pod as ModelPod;

use super::nomination::{NominationState, Nominations};
use crate::memory::Batch;
use crate::observed::{Pod, PodKey, PodPhase};
use crate::planners::disruption::pdbs::Pdbs;
use crate::time::{Span, Time};
use crate::world::World;

/// The pods that need a place now, and what else is known of them.
#[derive(Debug, Default)]
pub(super) struct Waiting<'a> {
    /// Pods to place; those who waited longest if there are too many.
    pub(super) pods: Vec<&'a Pod>,
    /// Pods nobody can place, with the reason.
    pub(super) unusable: Vec<(&'a Pod, &'a Arc<str>)>,
    /// Whether there were too many, and some left over were never looked at.
    pub(super) has_more: bool,
    /// Whether there are nodes on their way out.
    pub(super) has_leaving_nodes: bool,
    /// Whether pods are expected on nodes that are up.
    pub(super) is_settling: bool,
}

/// Pods placed in one pass at most: twice what the largest rollouts create at once, and few enough
/// to be solved in seconds. The rest follow right after.
const PODS_PER_PASS_MAX: usize = 20_000;

/// A pod that has not been judged for so long has a scheduler that is not there.
const UNJUDGED_AT_MOST: Span = Span::from_minutes(1);
/// The cluster's scheduler has come to rest when it has bound no awaited pod for so long.
const QUIET_AFTER: Span = Span::from_seconds(1);

/// The pods that need a place and have no nomination: those the cluster's scheduler has given up
/// on, and those whose node is going away and that may move now.
///
/// Where other pods took nominated places, those who lost theirs are placed anew together
/// with all that are on their way to nodes that are up: who stands where has changed. That waits
/// until the cluster's scheduler has come to rest, or every pod it moves would be answered with
/// another node.
pub(super) fn collect(world: &World, now: Time) -> Waiting<'_> {
    let mut nominations = Nominations::new(world, now);
    let mut waiting = gather(world, &mut nominations, now);
    waiting.choose(world);
    waiting.take_along(world, &mut nominations, now);
    waiting
}

/// All of them, however many there are.
pub(super) fn all(world: &World, now: Time) -> Waiting<'_> {
    gather(world, &mut Nominations::new(world, now), now)
}

fn gather<'a>(world: &'a World, nominations: &mut Nominations<'a>, now: Time) -> Waiting<'a> {
    let mut waiting = Waiting::default();
    let (mut settling, mut lost) = (Vec::new(), Vec::new());
    for pod in world.unschedulable_pods().filter(|pod| !pod.shape.placement.excludes_node_pools()) {
        match (&pod.unusable, nominations.of(pod)) {
            (Some(reason), _) => waiting.unusable.push((pod, reason)),
            (None, NominationState::Void) => waiting.pods.push(pod),
            (None, NominationState::Taken) => lost.push(pod),
            (None, NominationState::Open) => settling.push(pod),
            (None, NominationState::Coming) => {}
        }
    }
    waiting.is_settling = !settling.is_empty() || !lost.is_empty();
    let last_bound = world.memory.batch.last_bound_at;
    let is_quiet = last_bound.is_none_or(|at| at + QUIET_AFTER <= now);
    if !lost.is_empty() && is_quiet {
        waiting.pods.append(&mut lost);
        waiting.pods.append(&mut settling);
    }
    let leaving = world.leaving_nodes();
    if leaving.is_empty() {
        return waiting;
    }
    waiting.has_leaving_nodes = true;
    let mut pdbs = Pdbs::new(world);
    for node in leaving.iter().filter(|node| !stays_for_now(world, node)) {
        let moving = world.pods_on(node);
        let is_free = |state| matches!(state, NominationState::Void | NominationState::Taken);
        let moving = moving.filter(|pod| is_free(nominations.of(pod)));
        let moving = moving.filter(|pod| pod.unusable.is_none() && may_move(pod, &mut pdbs, now));
        waiting.pods.extend(moving);
    }
    waiting
}

/// Whether the pods of a node have their places elsewhere held for them and are not asked to leave
/// before those are ready.
fn stays_for_now(world: &World, node: &str) -> bool {
    let Some(node) = world.nodes.get(node) else { return false };
    let is_drained = world.memory.drains.contains_key(&node.meta.name);
    let Some(claim) = world.claim_of(node).filter(|_| !is_drained && !node.meta.is_deleting())
    else {
        return false;
    };
    let name = &claim.meta.name;
    let memory = &world.memory;
    let is_chosen = memory.interrupted.contains_key(name) || memory.surplus.contains(name);
    let is_going = claim.meta.is_deleting() || world.is_deletion_taken(claim) || is_chosen;
    !is_going && world.memory.commands.is_awaiting_replacements(name)
}

impl<'a> Waiting<'a> {
    /// Adds pods the cluster's scheduler has not come to yet and that are just like some it found
    /// no node for a moment ago: it will find none for them either. Where it is slow, they would
    /// otherwise be placed one part after the other, later and on more nodes.
    fn take_along(&mut self, world: &'a World, nominations: &mut Nominations<'a>, now: Time) {
        let batch = &world.memory.batch;
        if batch.kinds.is_empty() || batch.has_more {
            return;
        }
        let is_new = |pod: &Pod| now < pod.meta.created_at + UNJUDGED_AT_MOST;
        let is_usable = |pod: &Pod| pod.unusable.is_none() && !pod.meta.is_deleting();
        let alike = world.unjudged_pods().filter(|pod| {
            is_new(pod)
                && is_usable(pod)
                && batch.is_kin(&pod.shape)
                && nominations.of(pod) == NominationState::Void
        });
        self.pods.extend(alike.take(pods_max(batch).saturating_sub(self.pods.len())));
    }

    /// Leaves out whom there is no time for now.
    fn choose(&mut self, world: &World) {
        let wait_of = |pod: &Pod| world.memory.waits.get(&pod.key);
        let is_new = |pod: &&Pod| wait_of(pod).is_some_and(|wait| wait.judged_at.is_none());
        let batch = &world.memory.batch;
        if batch.has_more {
            // The others had their turn a moment ago.
            self.pods.retain(is_new);
        }
        let most = pods_max(batch);
        if self.pods.len() > most {
            // Those not judged for longest go first, so that nobody is passed over for ever.
            let judged_at = |pod: &Pod| wait_of(pod)?.judged_at;
            self.pods.sort_by_key(|pod| (judged_at(pod), pod.meta.created_at, &pod.meta.uid));
            let rest = self.pods.split_off(most);
            self.has_more = rest.iter().any(is_new);
        }
    }
}

/// Pods in one solve at most.
fn pods_max(batch: &Batch) -> usize {
    batch.failure.map_or(PODS_PER_PASS_MAX, |failure| failure.pods_max)
}

/// Whether a pod still needs a place: it has no node, or one that is going away.
pub(super) fn may_need_place(world: &World, pod: &Pod) -> bool {
    match &pod.phase {
        PodPhase::Unschedulable { .. } | PodPhase::Unjudged | PodPhase::Waiting => true,
        PodPhase::Bound { node } => {
            world.nodes.get(node).is_none_or(|node| world.is_node_leaving(node))
        }
        PodPhase::Ended { .. } => false,
    }
}

/// The pod a solve was about, if it is still the same.
pub(in crate::planners) fn asked<'a>(world: &'a World, asked: &ModelPod) -> Option<&'a Pod> {
    let namespace = Arc::from(asked.shape.namespace.as_str());
    let key = PodKey { namespace, name: Arc::from(asked.name.as_str()) };
    let pod = world.pods.get(&key).map(Arc::as_ref);
    pod.filter(|pod| *pod.meta.uid == *asked.uid)
}

/// Whether a pod on a node that is going away can be expected elsewhere soon.
fn may_move(pod: &Pod, pdbs: &mut Pdbs<'_>, now: Time) -> bool {
    pod.is_reschedulable() && !pod.is_protected(now) && !pdbs.never_let_go(pod, now)
}
