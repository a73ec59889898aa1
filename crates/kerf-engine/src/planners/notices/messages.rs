//! The Kubernetes Events about notices, under Karpenter's reasons.

use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::notice::NoticeKind;
use crate::observed::{Claim, Node};
use crate::world::World;

/// Something was announced about a claim's instance.
pub(super) fn announced(
    world: &World,
    claim: &Claim,
    kind: NoticeKind,
    instance: &str,
) -> Vec<KubernetesEvent> {
    keys(world, claim).into_iter().map(|about| event(about, kind, instance)).collect()
}

/// Something was announced about a node's instance.
pub(super) fn announced_to(node: &Node, kind: NoticeKind, instance: &str) -> KubernetesEvent {
    event(Key::Node(node.meta.name.clone()), kind, instance)
}

/// A claim stays although its instance was announced to go.
pub(super) fn held(world: &World, claim: &Claim, kind: NoticeKind) -> Vec<KubernetesEvent> {
    keys(world, claim).into_iter().map(|about| held_event(about, kind)).collect()
}

/// A node stays open although its instance was announced to go.
pub(super) fn held_at(node: &Node, kind: NoticeKind) -> KubernetesEvent {
    held_event(Key::Node(node.meta.name.clone()), kind)
}

fn held_event(about: Key, kind: NoticeKind) -> KubernetesEvent {
    let message = format!(
        "{}; held back, because more of the cluster than --interruption-percent-per-minute would go \
         within a minute",
        kind.sentence()
    );
    KubernetesEvent::warning(about, "InterruptionHeld", message)
}

fn event(about: Key, kind: NoticeKind, instance: &str) -> KubernetesEvent {
    let message = format!("{instance}: {}", kind.sentence());
    match kind {
        NoticeKind::RebalanceRecommendation => {
            KubernetesEvent::normal(about, reason(kind), message)
        }
        _ => KubernetesEvent::warning(about, reason(kind), message),
    }
}

/// A claim was deleted because of that.
pub(in crate::planners) fn terminating(
    world: &World,
    claim: &Claim,
    kind: NoticeKind,
) -> Vec<KubernetesEvent> {
    let message = format!("the node is emptied and given up: {}", kind.sentence());
    let event = |about| KubernetesEvent::warning(about, "TerminatingOnInterruption", &message);
    keys(world, claim).into_iter().map(event).collect()
}

fn reason(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::SpotInterrupted => "SpotInterrupted",
        NoticeKind::RebalanceRecommendation => "SpotRebalanceRecommendation",
        NoticeKind::InstanceStopped => "InstanceStopping",
        NoticeKind::InstanceTerminated => "InstanceTerminating",
        NoticeKind::ScheduledChange
        | NoticeKind::EventStatus
        | NoticeKind::InstanceStatus
        | NoticeKind::SystemStatus => "InstanceUnhealthy",
        NoticeKind::CapacityReservationInterrupted => "CapacityReservationInstanceInterrupted",
        NoticeKind::LifecycleTermination => "InstanceTerminating",
        NoticeKind::LifecycleLaunch => "InstanceLaunched",
        NoticeKind::Withdrawn => "InstanceStays",
    }
}

/// The claim, and its nodes.
fn keys(world: &World, claim: &Claim) -> Vec<Key> {
    let id = claim.status.provider_id.as_deref();
    let nodes = id.into_iter().flat_map(|id| world.nodes_on_instance(id));
    let nodes = nodes.map(|node| Key::Node(node.meta.name.clone()));
    [Key::Claim(claim.meta.name.clone())].into_iter().chain(nodes).collect()
}
