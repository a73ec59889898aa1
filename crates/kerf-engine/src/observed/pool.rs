//! Pools as the engine sees them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::pool::NodePool;
use kerf_model::resources::ResourceList;
use serde::{Deserialize, Serialize};

use super::Meta;
use crate::condition::Conditions;

/// A pool with what was observed of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// What all objects have.
    pub meta: Meta,
    /// The spec. Its hash is the one the template has now.
    pub spec: Arc<NodePool>,
    /// Its annotations, those in the `karpenter.sh` domains only.
    pub annotations: BTreeMap<String, String>,
    /// What is wrong with the spec, in words; empty when nothing is (§1.6 of the rules).
    pub faults: Vec<String>,
    /// What was last written about it.
    pub status: PoolStatus,
}

/// What was last written about a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStatus {
    /// What its nodes have together.
    pub resources: ResourceList,
    /// How many nodes it has.
    pub nodes: u64,
    /// The generation of its node class when its health was last judged.
    pub node_class_observed_generation: Option<i64>,
    /// How it is.
    pub conditions: Conditions,
}
