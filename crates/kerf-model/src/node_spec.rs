//! What a node is made of, wherever it is asked for: in a pool's template or in a claim.

use serde::{Deserialize, Serialize};

use crate::duration::{GoDuration, NillableDuration};
use crate::requirement::RequirementEntry;
use crate::taint::Taint;

/// What a node shall be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSpec {
    /// Constraints on the labels of the node.
    pub requirements: Vec<RequirementEntry>,
    /// Taints of the node.
    pub taints: Vec<Taint>,
    /// Taints the node starts with and that something else removes.
    pub startup_taints: Vec<Taint>,
    /// The provider's settings for the node.
    pub node_class: NodeClassRef,
    /// The longest a drain may take before pods are deleted by force.
    pub termination_grace: Option<GoDuration>,
    /// How long the node may live.
    pub expire_after: NillableDuration,
}

/// The name of a provider's settings object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeClassRef {
    /// Its API group, without a version.
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}
