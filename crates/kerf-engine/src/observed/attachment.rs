//! Volumes attached to nodes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Index, Meta, Name, ObservedKind};
use crate::action::Subject;
use crate::dependents::of_node;
use crate::world::World;

/// A volume attached to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeAttachment {
    /// What all objects have.
    pub meta: Meta,
    /// The node.
    pub node: Name,
    /// The claim whose volume it is, as `namespace/name`; none if it names no volume of the
    /// cluster, and then nobody waits for it.
    pub volume_claim: Option<Arc<str>>,
}

impl ObservedKind for VolumeAttachment {
    type Key = Name;

    fn key(&self) -> Name {
        self.meta.name.clone()
    }

    fn add_to(attachment: &Arc<Self>, index: &mut Index) {
        index.attachments_on.insert(&attachment.node, &attachment.meta.name, attachment);
    }

    fn remove_from(&self, index: &mut Index) {
        index.attachments_on.remove(&self.node, &self.meta.name);
    }

    fn dependents(&self, world: &World) -> Vec<Subject> {
        let node = world.nodes.get(&self.node);
        node.map(|node| of_node(world, node)).unwrap_or_default()
    }
}
