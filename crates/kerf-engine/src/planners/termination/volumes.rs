//! Volumes that are still attached to a node nobody uses any more.

use std::collections::BTreeSet;

use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{Node, VolumeAttachment};
use crate::planners::drain::{NodeDrain, is_drainable};
use crate::world::World;

/// Names shown in an Event at most.
const NAMES_MAX: usize = 5;

/// The volumes whose detachment is waited for. Those of pods that stay to the end are not, nor
/// those that no claim of the cluster names.
pub(super) fn pending<'a>(world: &'a World, drain: &NodeDrain<'_>) -> Vec<&'a VolumeAttachment> {
    let node = &drain.node.meta.name;
    let stays = world.pods_on(node).filter(|pod| !is_drainable(pod, drain));
    let kept: BTreeSet<&str> = stays
        .flat_map(|pod| pod.shape.volumes.iter().map(|volume| volume.claim.as_str()))
        .collect();
    let attached = world.attachments_on(node);
    attached
        .filter(|volume| volume.volume_claim.as_deref().is_some_and(|claim| !kept.contains(claim)))
        .collect()
}

/// The Event that says which volumes are waited for.
pub(super) fn awaited(node: &Node, volumes: &[&VolumeAttachment]) -> KubernetesEvent {
    let names = volumes.iter().take(NAMES_MAX).map(|volume| &*volume.meta.name);
    let mut text = names.collect::<Vec<_>>().join(", ");
    if volumes.len() > NAMES_MAX {
        text.push_str(&format!(" and {} more", volumes.len() - NAMES_MAX));
    }
    let about = Key::Node(node.meta.name.clone());
    let text = format!("Awaiting deletion of volume attachments: {text}");
    KubernetesEvent::normal(about, "AwaitingVolumeDetachment", text)
}
