//! Buffers: room kept free for pods that have not come yet.

use crate::resources::ResourceList;

/// Spare capacity that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapacityBuffer {
    /// The namespace of the buffer and of what it refers to.
    pub namespace: String,
    /// The name, unique in the namespace.
    pub name: String,
    /// How the room is kept.
    pub strategy: String,
    /// What one piece of room looks like; a buffer without a shape keeps nothing.
    pub shape: Option<BufferShape>,
    /// How many pieces.
    pub replicas: Option<u32>,
    /// How many pieces, as a share of the scaled object's replicas.
    pub percentage: Option<u32>,
    /// The most the pieces may request together.
    pub limits: ResourceList,
}

/// Where the shape of a piece of room comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferShape {
    /// A pod template.
    PodTemplate {
        /// Its name.
        name: String,
    },
    /// The pods of a scaled object.
    Scalable {
        /// Its API group; `None` when it was not given.
        group: Option<String>,
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
    },
}
