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
    let message = format!("{instance}: {}", kind.sentence());
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
    let message = format!("the node is emptied and given up: {}", kind.sentence());
    let news = |about| KubernetesEvent::warning(about, "TerminatingOnInterruption", &message);
    keys(world, claim).into_iter().map(news).collect()
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
