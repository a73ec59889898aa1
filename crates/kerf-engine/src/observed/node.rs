//! Nodes as the engine sees them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::resources::ResourceList;
use kerf_model::taint::Taint;
use serde::{Deserialize, Serialize};

use super::Meta;
use crate::condition::Conditions;

/// A node, exactly as it was stored; what counts of it is decided in [`crate::world`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What all objects have.
    pub meta: Meta,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations, those in the `karpenter.sh` domains only.
    pub annotations: BTreeMap<String, String>,
    /// The finalizers it waits for.
    pub finalizers: Vec<String>,
    /// The identity of the claim it belongs to, from its owner references.
    pub owner_claim: Option<Arc<str>>,
    /// The instance it runs on.
    pub provider_id: Option<Arc<str>>,
    /// Its taints, all of them, and that of a node closed by `kubectl cordon`.
    pub taints: Vec<Taint>,
    /// What it has in all.
    pub capacity: ResourceList,
    /// What pods can use.
    pub allocatable: ResourceList,
    /// Whether its Ready condition is True.
    pub is_ready: bool,
    /// How many volumes each driver can attach here; a driver not listed has no limit.
    pub volume_limits: BTreeMap<String, u32>,
    /// What only those who watch want to know.
    pub profile: NodeProfile,
}

/// What only those who watch want to know of a node; nothing is decided by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeProfile {
    /// What it says of itself, without the messages.
    pub conditions: Conditions,
}
