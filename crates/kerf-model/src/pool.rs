//! Pools: which nodes may be made, how many, and how they may be taken away.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::BudgetList;
use crate::duration::NillableDuration;
use crate::node_spec::NodeSpec;
use crate::resources::ResourceList;

/// A pool of like nodes.
///
/// An empty map or list and an absent one mean the same to every decision and are one here. The
/// public hash tells them apart, so it travels as a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePool {
    /// The name, unique in the cluster.
    pub name: String,
    /// Pools with a higher weight are tried first; 0 when none is given.
    pub weight: u32,
    /// How its nodes come and go.
    pub sizing: Sizing,
    /// The most of each resource its nodes may have together; a resource not listed is unlimited.
    pub limits: ResourceList,
    /// When its nodes may be disrupted.
    pub disruption: Disruption,
    /// The shape of its nodes.
    pub template: NodeTemplate,
    /// The public hash of the template, in decimal.
    pub hash: String,
}

/// What decides how many nodes a pool has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sizing {
    /// The pods do.
    Dynamic,
    /// A fixed number does.
    Static {
        /// How many nodes there shall be.
        replicas: u64,
    },
}

/// When the nodes of a pool may be disrupted, and how many at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disruption {
    /// Which nodes consolidation may touch.
    pub policy: ConsolidationPolicy,
    /// How long a node must have been quiet first.
    pub consolidate_after: NillableDuration,
    /// How many nodes at once.
    pub budgets: BudgetList,
}

/// Which nodes consolidation may touch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum ConsolidationPolicy {
    /// Only nodes without pods that would have to move.
    WhenEmpty,
    /// Also nodes whose pods fit elsewhere or on a cheaper node.
    #[default]
    WhenEmptyOrUnderutilized,
    /// As the former, when the saving is worth the disruption.
    Balanced,
}

/// The shape of a pool's nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTemplate {
    /// Labels every node gets.
    pub labels: BTreeMap<String, String>,
    /// Annotations every node gets.
    pub annotations: BTreeMap<String, String>,
    /// What the nodes are made of.
    pub spec: NodeSpec,
}
