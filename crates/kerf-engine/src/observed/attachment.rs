//! Volumes attached to nodes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Meta, Name};

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
