//! Which pods have to leave a node, and in what order.

use super::NodeDrain;
use crate::memory::{Closing, DrainRequest};
use crate::observed::{Pod, PodOwner};
use crate::time::{Span, Time};
use crate::world::World;

/// Pods leave tier by tier, each emptied before the next is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    Ordinary,
    OrdinaryDaemon,
    Critical,
    CriticalDaemon,
}

/// A pod that should have been gone so long ago is stuck, most often because its kubelet is; it is
/// not waited for.
const STUCK_AFTER: Span = Span::from_minutes(1);

/// The pods a node still waits for, by name.
pub(in crate::planners) fn waiting<'a>(
    world: &'a World,
    drain: &NodeDrain<'_>,
    now: Time,
) -> Vec<&'a Pod> {
    let pods = world.pods_on(&drain.node.meta.name);
    pods.filter(|pod| is_waited_for(pod, drain, now)).collect()
}

/// The tier whose pods leave now.
pub(super) fn active_tier(world: &World, drain: &NodeDrain<'_>, now: Time) -> Option<Tier> {
    waiting(world, drain, now).into_iter().map(tier).min()
}

pub(super) fn tier(pod: &Pod) -> Tier {
    match (pod.is_critical, pod.owner == PodOwner::DaemonSet) {
        (false, false) => Tier::Ordinary,
        (false, true) => Tier::OrdinaryDaemon,
        (true, false) => Tier::Critical,
        (true, true) => Tier::CriticalDaemon,
    }
}

/// Whether a pod has to leave, for one reason or another, and still may.
pub(in crate::planners) fn is_waited_for(pod: &Pod, drain: &NodeDrain<'_>, now: Time) -> bool {
    drain.requests().any(|request| must_leave(pod, request)) && !is_stuck(pod, now)
}

/// Whether a pod has to leave for this reason: it has not ended, does not live and die with the
/// node, and may not stay to the end.
pub(super) fn must_leave(pod: &Pod, request: &DrainRequest) -> bool {
    let stays = match &request.closing {
        Closing::Cordon => pod.owner == PodOwner::DaemonSet,
        Closing::Taint(taint) => pod.shape.tolerations.iter().any(|own| own.tolerates(taint)),
    };
    let stays = stays || request.cordons_only || request.keeps.as_ref() == Some(&pod.key);
    !pod.has_ended() && pod.owner != PodOwner::Node && !stays
}

/// When a pod that is leaving is no longer waited for.
pub(in crate::planners) fn given_up_at(pod: &Pod) -> Option<Time> {
    // One millisecond more: at the moment itself it still has a chance.
    pod.meta.deleting_since.map(|end| end + STUCK_AFTER + Span::from_millis(1))
}

fn is_stuck(pod: &Pod, now: Time) -> bool {
    given_up_at(pod).is_some_and(|at| now >= at)
}
