//! What people are told about notices, under the reasons they know.

use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::notice::NoticeKind;
use crate::observed::Claim;
use crate::world::World;

/// Something was announced about a claim's instance.
pub(super) fn announced(
    world: &World,
    claim: &Claim,
    kind: NoticeKind,
    instance: &str,
) -> Vec<KubernetesEvent> {
    let reason = reason(kind);
    let message = format!("{instance}: {}", sentence(kind));
    let is_bad = kind != NoticeKind::RebalanceRecommendation;
    let news = |about| match is_bad {
        true => KubernetesEvent::warning(about, reason, &message),
        false => KubernetesEvent::normal(about, reason, &message),
    };
    keys(world, claim).into_iter().map(news).collect()
}

/// A claim was deleted because of that.
pub(in crate::planners) fn terminating(
    world: &World,
    claim: &Claim,
    kind: NoticeKind,
) -> Vec<KubernetesEvent> {
    let message = format!("the node is emptied and given up: {}", sentence(kind));
    let news = |about| KubernetesEvent::warning(about, "TerminatingOnInterruption", &message);
    keys(world, claim).into_iter().map(news).collect()
}

/// As people read it.
pub(in crate::planners) fn sentence(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::SpotInterrupted => "the cloud takes the spot machine back in two minutes",
        NoticeKind::RebalanceRecommendation => {
            "the cloud may take the spot machine back sooner than others; nothing is done yet"
        }
        NoticeKind::InstanceStopped => "the machine is stopping or stopped",
        NoticeKind::InstanceTerminated => "the machine is ending or gone",
        NoticeKind::ScheduledChange => "the cloud has planned maintenance of the machine",
        NoticeKind::CapacityReservationInterrupted => {
            "the cloud takes the machine back for whom its capacity is reserved"
        }
    }
}

fn reason(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::SpotInterrupted => "SpotInterrupted",
        NoticeKind::RebalanceRecommendation => "SpotRebalanceRecommendation",
        NoticeKind::InstanceStopped => "InstanceStopping",
        NoticeKind::InstanceTerminated => "InstanceTerminating",
        NoticeKind::ScheduledChange => "InstanceUnhealthy",
        NoticeKind::CapacityReservationInterrupted => "CapacityReservationInstanceInterrupted",
    }
}

/// The claim, and its nodes.
fn keys(world: &World, claim: &Claim) -> Vec<Key> {
    let id = claim.status.provider_id.as_deref();
    let nodes = id.into_iter().flat_map(|id| world.nodes_on_instance(id));
    let nodes = nodes.map(|node| Key::Node(node.meta.name.clone()));
    [Key::Claim(claim.meta.name.clone())].into_iter().chain(nodes).collect()
}
