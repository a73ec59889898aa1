//! Terminating a claim's instance, and knowing that it is gone.

use std::sync::Arc;

use crate::action::ActionKind;
use crate::decision::Decision;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::InstanceList;
use crate::observed::{Name, Node, ShiftedZone};
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// How often the cloud is asked until the instance is gone.
const EVERY: Span = Span::from_seconds(5);

/// Stored times are cut to whole seconds.
const SECOND: Span = Span::from_seconds(1);

/// Asks for the end of a claim's instance, again and again. Returns whether it is gone. In a zone
/// the cluster is shifted away from nothing is asked: calls there may fail or lie, and everything
/// is looked at again when the shift is over.
pub(in crate::planners) fn terminate_instance(
    world: &World,
    claim: &Name,
    provider_id: Option<Arc<str>>,
    now: Time,
    decision: &mut Decision,
) -> bool {
    if world.memory.instance_gone.contains(claim) {
        return true;
    }
    if let Some(zone) = world.shifted_zone_of_instance(claim, provider_id.as_deref()) {
        decision.record(awaiting_shift(claim, zone));
        return false;
    }
    match world.memory.terminate_asked_at.get(claim) {
        Some(asked_at) if now < *asked_at + EVERY => decision.wake(*asked_at + EVERY),
        _ => {
            let kind = ActionKind::Terminate { claim: claim.clone(), provider_id };
            decision.act(kind, Reason::InstanceUnused);
        }
    }
    false
}

/// Whether a node's instance is gone: the node is not ready, and when the cloud's instances were
/// listed after its deletion was asked for, its own was not among them.
pub(super) fn is_lost(world: &World, node: &Node) -> bool {
    !node.is_ready && is_unlisted(world, node)
}

fn is_unlisted(world: &World, node: &Node) -> bool {
    let Some(InstanceList { at: listed_at, instances }) = &world.memory.instances else {
        return false;
    };
    let Some(provider_id) = &node.provider_id else { return false };
    let asked_before = node.meta.deleting_since.is_some_and(|since| since + SECOND <= *listed_at);
    // A list that is silent about a shifted zone proves nothing.
    let is_listed = world.shifted_zone(&node.labels).is_none();
    is_listed && asked_before && !instances.contains_key(provider_id)
}

/// The instance is in a zone where no call is made now.
fn awaiting_shift(claim: &Name, zone: &ShiftedZone) -> KubernetesEvent {
    let text = format!(
        "Awaiting the end of the zonal shift away from {} ({}) before the instance is terminated",
        zone.name, zone.id
    );
    KubernetesEvent::normal(Key::Claim(claim.clone()), "AwaitingZonalShift", text)
}
