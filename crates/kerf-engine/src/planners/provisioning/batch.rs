//! When to look for places: pods that come together are placed together.

use std::sync::Arc;

use kerf_model::taint::{Taint, disrupted};

use super::start;
use crate::condition::READY;
use crate::condition::claim::INITIALIZED;
use crate::decision::Decision;
use crate::event::{Key, Object};
use crate::memory::{PassFailure, Update};
use crate::observed::{Claim, Name, Node, Pod, PodPhase, Pool};
use crate::time::{Span, Time};
use crate::world::World;

/// When the next pass is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Now,
    At(Time),
    /// Nobody waits.
    Unasked,
}

/// Those who still wait are looked at again so long after the last pass.
const LOOK_AGAIN_AFTER: Span = Span::from_seconds(10);
/// Pods expected on nodes that are up are looked at again so long after the last pass: some may
/// find their place taken.
const SETTLES_AFTER: Span = Span::from_seconds(1);
/// After a solve that failed the next waits so long, twice as long after each more, up to a
/// minute.
const RETRY_FIRST: Span = Span::from_seconds(1);
const RETRY_LAST: Span = Span::from_minutes(1);
/// An answer that has not come by now will not: the engine gave its solve up.
const ANSWER_WITHIN: Span = Span::from_minutes(5);

/// When the next pass is due: at the end of the window, or some time after the last one while
/// someone still waits. One pass at a time.
pub(super) fn due(world: &World, now: Time) -> Due {
    let batch = &world.memory.batch;
    if batch.is_solving
        && let Some(given_up) = batch.last_pass_at.map(|began| began + ANSWER_WITHIN)
        && now < given_up
    {
        return Due::At(given_up);
    }
    let retry = batch.failure.map(|failure| failure.at + patience(failure));
    if let Some(retry) = retry.filter(|retry| now < *retry) {
        return Due::At(retry);
    }
    let closes = closing(world);
    let someone_waits = batch.has_leaving_nodes || world.unschedulable_pods().next().is_some();
    let pause = if batch.is_settling { SETTLES_AFTER } else { LOOK_AGAIN_AFTER };
    // A window that is open closes soon enough, and cutting it short would part what belongs
    // together.
    let looks_again = someone_waits && batch.opened_at.is_none();
    let again = batch.last_pass_at.filter(|_| looks_again).map(|last| last + pause);
    let more = batch.last_pass_at.filter(|_| batch.has_more);
    let retry = retry.filter(|_| someone_waits);
    match [closes, again, more, retry].into_iter().flatten().min() {
        Some(time) if time <= now => Due::Now,
        Some(time) => Due::At(time),
        None => Due::Unasked,
    }
}

/// When the open window closes: when nobody new has called for a while, and after its longest time
/// in any case.
fn closing(world: &World) -> Option<Time> {
    let (batch, settings) = (&world.memory.batch, &world.settings);
    let (opened, newest) = batch.opened_at.zip(batch.last_new_at)?;
    Some((newest + settings.batch_idle).min(opened + settings.batch_max))
}

/// How long after a solve that failed the next is begun.
fn patience(failure: PassFailure) -> Span {
    let factor = 1u64.checked_shl(failure.failures.saturating_sub(1)).unwrap_or(u64::MAX);
    RETRY_FIRST.times(factor).min(RETRY_LAST)
}

/// What to remember when an object is about to become this: who calls, who waits, who stopped.
pub(in crate::planners) fn on_change(world: &World, object: &Object, now: Time) -> Decision {
    let mut decision = Decision::default();
    match object {
        Object::Pod(pod) => notice_pod(world, pod, now, &mut decision),
        Object::Node(node) => {
            let before = world.nodes.get(&node.meta.name).is_some_and(|node| leaves(node));
            if leaves(node) && !before {
                call(&node.meta.uid, now, &mut decision);
            }
        }
        Object::Claim(claim) => {
            // From now on the cluster's scheduler fills its node.
            let is_up = |claim: &Claim| claim.status.conditions.is_true(INITIALIZED);
            let was_up = world.claims.get(&claim.meta.name).is_some_and(|claim| is_up(claim));
            let is_awaited = world.memory.nominated_until.contains_key(&claim.meta.name);
            if is_up(claim) && !was_up && is_awaited {
                call(&claim.meta.uid, now, &mut decision);
            }
        }
        Object::Pool(pool) if world.unschedulable_pods().next().is_some() => {
            let before = world.pools.get(&pool.meta.name).map(Arc::as_ref);
            let same = |before: &Pool| {
                before.meta.generation == pool.meta.generation && is_ready(before) == is_ready(pool)
            };
            if is_ready(pool) && !before.is_some_and(same) {
                call(&pool.meta.uid, now, &mut decision);
            }
        }
        _ => {}
    }
    decision
}

/// What to remember when an object is about to be gone.
pub(in crate::planners) fn on_delete(world: &World, key: &Key, now: Time) -> Decision {
    let mut decision = Decision::default();
    match key {
        Key::Pod(pod) => decision.updates.extend(start::over(world, pod)),
        Key::Node(name) if world.memory.nominated_until.contains_key(name) => {
            decision.remember(Update::Unshield(name.clone()));
        }
        // Its pods need another place now, not at the next round.
        Key::Claim(name) => {
            let uid = world.claims.get(name).map(|claim| &claim.meta.uid);
            if let Some(uid) = uid
                && world.memory.nominations.values().any(|nomination| nomination.target == *name)
            {
                call(uid, now, &mut decision);
            }
        }
        _ => {}
    }
    decision
}

/// What to remember when a pool's instances are about to be known for the first time.
pub(in crate::planners) fn on_instance_types(world: &World, pool: &Name, now: Time) -> Decision {
    let mut decision = Decision::default();
    if !world.is_offered(pool) && world.unschedulable_pods().next().is_some() {
        call(pool, now, &mut decision);
    }
    decision
}

/// Who calls when this process takes over the lead: everybody who would have, had the process just
/// started.
pub(in crate::planners) fn on_lead(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    for pod in world.unschedulable_pods() {
        call(&pod.meta.uid, now, &mut decision);
        decision.remember(Update::Kind(pod.shape.clone()));
    }
    for node in world.departing_nodes().filter(|node| leaves(node)) {
        call(&node.meta.uid, now, &mut decision);
    }
    decision
}

fn notice_pod(world: &World, pod: &Pod, now: Time, decision: &mut Decision) {
    let before = world.pods.get(&pod.key).map(Arc::as_ref);
    let before = before.filter(|before| before.meta.uid == pod.meta.uid);
    let batch = &world.memory.batch;
    match &pod.phase {
        PodPhase::Unschedulable { .. } => {
            let (key, uid) = (pod.key.clone(), pod.meta.uid.clone());
            let waited = |before: &Pod| matches!(before.phase, PodPhase::Unschedulable { .. });
            if before.is_some_and(waited) {
                return start::follow(world, pod, now, decision);
            }
            // One that was placed along with its like needs nothing more.
            if !world.memory.nominations.contains_key(&key) {
                call(&uid, now, decision);
                decision.remember(Update::Kind(pod.shape.clone()));
            }
            decision.remember(Update::Waits { pod: key, uid, at: now });
        }
        // More of a kind that is waiting for its place already.
        PodPhase::Unjudged if before.is_none() && batch.is_kin(&pod.shape) => {
            call(&pod.meta.uid, now, decision);
        }
        _ => {}
    }
    start::follow(world, pod, now, decision);
}

fn call(caller: &Arc<str>, at: Time, decision: &mut Decision) {
    decision.remember(Update::Call { caller: caller.clone(), at });
}

fn leaves(node: &Node) -> bool {
    node.meta.is_deleting() || is_disrupted(node)
}

fn is_disrupted(node: &Node) -> bool {
    let mark: Taint = disrupted();
    node.taints.iter().any(|taint| taint.same_mark(&mark))
}

fn is_ready(pool: &Pool) -> bool {
    pool.status.conditions.is_true(READY)
}
