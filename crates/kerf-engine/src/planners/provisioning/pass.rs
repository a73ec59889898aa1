//! One pass over the pods that wait: who they are, and the problem to solve.

use std::sync::Arc;

use super::pool_choice::{self, PoolChoice};
use super::problem;
use super::waiting::{self, Waiting};
use crate::action::ActionKind;
use crate::decision::Decision;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::Update;
use crate::observed::Pod;
use crate::reason::{NotPlaced, Reason};
use crate::solve::{Asker, SolveRequest};
use crate::time::{Span, Time};
use crate::world::World;

/// How long the same reason is not repeated to a pod's owner.
const REFUSAL_SILENCE: Span = Span::from_minutes(5);

/// Asks where the waiting pods should go.
pub(super) fn begin(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    let waiting = waiting::collect(world, now);
    for (pod, reason) in &waiting.unusable {
        let cause = NotPlaced::Unusable { problem: Arc::clone(reason) };
        refuse(pod, &cause, now, world, &mut decision);
    }
    let PoolChoice { pools, kubernetes_events } = match waiting.pods.is_empty() {
        true => PoolChoice::default(),
        false => pool_choice::choose(world),
    };
    decision.kubernetes_events.extend(kubernetes_events);
    if !waiting.pods.is_empty() && pools.is_empty() {
        for pod in &waiting.pods {
            refuse(pod, &NotPlaced::NoPool, now, world, &mut decision);
        }
    }
    let is_solving = !pools.is_empty();
    decision.remember(begun(&waiting, is_solving, now));
    if is_solving {
        let count = waiting.pods.len();
        let problem = problem::build(world, &waiting.pods, pools, now);
        let request = SolveRequest::new(Asker::Provisioning, problem, now);
        decision.act(ActionKind::Solve(request), Reason::PodsPending { count });
    }
    // What is now remembered decides when to look again.
    decision.wake(now);
    decision
}

/// Records an Event on a pod that says why it has no place.
pub(super) fn refuse(
    pod: &Pod,
    cause: &NotPlaced,
    now: Time,
    world: &World,
    decision: &mut Decision,
) {
    let message = format!("Failed to schedule pod, {cause}");
    decision.record(
        KubernetesEvent::warning(Key::Pod(pod.key.clone()), "FailedScheduling", message)
            .silent_for(REFUSAL_SILENCE),
    );
    let known = world.memory.unplaced.get(&pod.key);
    if known.is_none_or(|known| known != cause) {
        let cause = Some(cause.clone());
        decision.remember(Update::Unplaced { pod: pod.key.clone(), cause });
    }
    super::verdict::judge(pod, false, now, world, decision);
}

fn begun(waiting: &Waiting<'_>, is_solving: bool, now: Time) -> Update {
    Update::PassBegun {
        at: now,
        is_solving,
        has_more: waiting.has_more && is_solving,
        has_leaving_nodes: waiting.has_leaving_nodes,
        is_settling: waiting.is_settling,
    }
}
