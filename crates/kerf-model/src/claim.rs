//! Claims: single nodes that are wanted, launched and followed to their end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::node_spec::NodeSpec;
use crate::resources::ResourceList;

/// The spec of one node, as it was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClaim {
    /// The name, unique in the cluster.
    pub name: String,
    /// Labels the node shall carry; they name the pool.
    pub labels: BTreeMap<String, String>,
    /// Annotations the node shall carry.
    pub annotations: BTreeMap<String, String>,
    /// What the node shall be made of.
    pub node: NodeSpec,
    /// What the node must at least offer.
    pub requests: ResourceList,
}
