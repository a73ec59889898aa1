//! Volumes that are still attached to a node nobody uses any more.

use std::collections::BTreeSet;

use super::drain::is_drainable;
use crate::observed::{Node, VolumeAttachment};
use crate::world::World;

/// The volumes whose detachment is waited for. Those of pods that stay to the end are not, nor
/// those that no claim of the cluster names.
pub(super) fn pending<'a>(world: &'a World, node: &Node) -> Vec<&'a VolumeAttachment> {
    let stays = world.pods_on(&node.meta.name).filter(|pod| !is_drainable(pod));
    let kept: BTreeSet<&str> = stays
        .flat_map(|pod| pod.shape.volumes.iter().map(|volume| volume.claim.as_str()))
        .collect();
    let attached = world.attachments_on(&node.meta.name);
    attached
        .filter(|volume| volume.volume_claim.as_deref().is_some_and(|claim| !kept.contains(claim)))
        .collect()
}
