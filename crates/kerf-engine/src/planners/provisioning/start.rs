//! How long pods wait: for a node, and until they are ready.

use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::{Pod, PodKey, PodPhase};
use crate::sample::Sample;
use crate::time::Time;
use crate::world::World;

const BOUND: &str = "karpenter_pods_bound_duration_seconds";
const BOUND_SINCE_PLACED: &str = "karpenter_pods_provisioning_bound_duration_seconds";
const STARTED: &str = "karpenter_pods_startup_duration_seconds";
const STARTED_SINCE_PLACED: &str = "karpenter_pods_provisioning_startup_duration_seconds";

/// Notes what a pod that is about to become this has reached. Only pods that were seen without a
/// node count, each once, and by their own times: a watch that was late or started anew makes no
/// pod slower.
pub(super) fn follow(world: &World, pod: &Pod, now: Time, decision: &mut Decision) {
    let memory = &world.memory;
    let is_starting = memory.starting.contains(&pod.key);
    match &pod.phase {
        PodPhase::Unjudged | PodPhase::Waiting | PodPhase::Unschedulable { .. } => {
            if !is_starting {
                decision.remember(Update::Starting(pod.key.clone()));
            }
        }
        PodPhase::Bound { .. } => {
            let before = world.pods.get(&pod.key).filter(|before| before.meta.uid == pod.meta.uid);
            if is_starting && before.is_some_and(|before| before.node().is_none()) {
                let at = pod.times.bound_at.unwrap_or(now);
                count(world, pod, [BOUND, BOUND_SINCE_PLACED], at, decision);
                if memory.nominations.contains_key(&pod.key) {
                    decision.remember(Update::Bound(now));
                }
            }
            if memory.unplaced.contains_key(&pod.key) {
                decision.remember(Update::Unplaced { pod: pod.key.clone(), cause: None });
            }
            if pod.is_ready {
                if is_starting {
                    let at = pod.times.ready_at.unwrap_or(now);
                    count(world, pod, [STARTED, STARTED_SINCE_PLACED], at, decision);
                }
                decision.updates.extend(over(world, &pod.key));
            }
        }
        PodPhase::Ended { .. } => decision.updates.extend(over(world, &pod.key)),
    }
}

/// Forgets how long a pod has waited, if that is known.
pub(super) fn over(world: &World, pod: &PodKey) -> Option<Update> {
    let memory = &world.memory;
    let is_known = memory.waits.contains_key(pod)
        || memory.starting.contains(pod)
        || memory.unplaced.contains_key(pod);
    is_known.then(|| Update::WaitOver(pod.clone()))
}

fn count(world: &World, pod: &Pod, metrics: [&'static str; 2], at: Time, decision: &mut Decision) {
    let [since_created, since_placed] = metrics;
    let wait = world.memory.waits.get(&pod.key).filter(|wait| wait.uid == pod.meta.uid);
    let placed = wait.and_then(|wait| wait.placed_at).map(|at| (since_placed, at));
    for (metric, since) in [(since_created, pod.meta.created_at)].into_iter().chain(placed) {
        let (labels, span) = (Vec::new(), at.since(since));
        decision.samples.push(Sample::Took { metric, labels, span });
    }
}
