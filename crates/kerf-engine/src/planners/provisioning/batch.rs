//! When to look for places: pods that come together are placed together.

use std::sync::Arc;

use kerf_model::taint::{Taint, disrupted};

use crate::condition::READY;
use crate::decision::Decision;
use crate::event::{Key, Object};
use crate::memory::{Memo, Trouble};
use crate::observed::{Name, Node, Pod, PodKey, Pool, Standing};
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
/// After a question that failed the next waits so long, twice as long after each more, up to a
/// minute.
const RETRY_FIRST: Span = Span::from_seconds(1);
const RETRY_LAST: Span = Span::from_minutes(1);
/// An answer that has not come by now will not: the engine gave its question up.
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
    let retry = batch.trouble.map(|trouble| trouble.at + patience(trouble));
    if let Some(retry) = retry.filter(|retry| now < *retry) {
        return Due::At(retry);
    }
    let settings = &world.settings;
    let window = batch.opened_at.zip(batch.last_new_at);
    let closes = window
        .map(|(opened, newest)| (opened + settings.batch_max).min(newest + settings.batch_idle));
    let someone_waits = batch.has_leaving_nodes || world.unschedulable_pods().next().is_some();
    let again = batch.last_pass_at.filter(|_| someone_waits).map(|last| last + LOOK_AGAIN_AFTER);
    let more = batch.last_pass_at.filter(|_| batch.has_more);
    let retry = retry.filter(|_| someone_waits);
    match [closes, again, more, retry].into_iter().flatten().min() {
        Some(time) if time <= now => Due::Now,
        Some(time) => Due::At(time),
        None => Due::Unasked,
    }
}

/// How long after a question that nobody could answer the next is asked.
fn patience(trouble: Trouble) -> Span {
    let factor = 1u64.checked_shl(trouble.failures.saturating_sub(1)).unwrap_or(u64::MAX);
    RETRY_FIRST.times(factor).min(RETRY_LAST)
}

/// What to remember when an object is about to become this: who calls, who waits, who stopped.
pub(in crate::planners) fn notice(world: &World, object: &Object, now: Time) -> Decision {
    let mut decision = Decision::default();
    match object {
        Object::Pod(pod) => notice_pod(world, pod, now, &mut decision),
        Object::Node(node) => {
            let left = |node: &Node| node.meta.is_deleting() || is_disrupted(node);
            let before = world.nodes.get(&node.meta.name).is_some_and(left);
            if left(node) && !before {
                call(&node.meta.uid, now, &mut decision);
            }
        }
        Object::Pool(pool) if world.unschedulable_pods().next().is_some() => {
            let before = world.pools.get(&pool.meta.name);
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
pub(in crate::planners) fn notice_gone(world: &World, key: &Key, now: Time) -> Decision {
    let mut decision = Decision::default();
    match key {
        Key::Pod(pod) => decision.memos.extend(wait_over(world, pod)),
        Key::Node(name) if world.memory.nominated_until.contains_key(name) => {
            decision.remember(Memo::Unshield(name.clone()));
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

/// What to remember when a pool's machines are about to be known for the first time.
pub(in crate::planners) fn notice_offered(world: &World, pool: &Name, now: Time) -> Decision {
    let mut decision = Decision::default();
    if !world.offers.contains_key(pool) && world.unschedulable_pods().next().is_some() {
        call(pool, now, &mut decision);
    }
    decision
}

fn notice_pod(world: &World, pod: &Pod, now: Time, decision: &mut Decision) {
    let before = world.pods.get(&pod.key);
    match &pod.standing {
        Standing::Unschedulable { .. } => {
            let waited = before.is_some_and(|before| {
                before.meta.uid == pod.meta.uid
                    && matches!(before.standing, Standing::Unschedulable { .. })
            });
            if !waited {
                let (pod, uid) = (pod.key.clone(), pod.meta.uid.clone());
                call(&uid, now, decision);
                decision.remember(Memo::Waits { pod, uid, at: now });
            }
        }
        Standing::Bound { .. } | Standing::Ended { .. } => {
            decision.memos.extend(wait_over(world, &pod.key));
        }
        Standing::Waiting => {}
    }
}

fn wait_over(world: &World, pod: &PodKey) -> Option<Memo> {
    let memory = &world.memory;
    let is_known = memory.waits.contains_key(pod) || memory.unplaced.contains_key(pod);
    is_known.then(|| Memo::WaitOver(pod.clone()))
}

fn call(caller: &Arc<str>, at: Time, decision: &mut Decision) {
    decision.remember(Memo::Call { caller: caller.clone(), at });
}

fn is_disrupted(node: &Node) -> bool {
    let mark: Taint = disrupted();
    node.taints.iter().any(|taint| taint.same_mark(&mark))
}

fn is_ready(pool: &Pool) -> bool {
    pool.status.conditions.is_true(READY)
}
