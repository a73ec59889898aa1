//! What was decided.

use kerf_model::pod::Pod;
use kerf_model::price::Price;
use kerf_model::requirement::RequirementEntry;
use kerf_model::resources::ResourceList;
use serde::{Deserialize, Serialize};

use crate::problem::PlacementProblem;

/// The answer to a [`PlacementProblem`](crate::PlacementProblem). Pods, nodes and pools are named
/// by their index in the problem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Solution {
    /// What goes onto nodes that exist, in the order of the nodes; nodes that get nothing are left
    /// out.
    pub existing: Vec<ExistingPlacement>,
    /// Nodes to add.
    pub new_nodes: Vec<NewNode>,
    /// Pods without a place, in the order of the problem.
    pub unplaced: Vec<Unplaced>,
    /// Pods that were not looked at before the effort was spent, in the order of the problem: the
    /// next solve goes on with them.
    pub deferred: Vec<usize>,
    /// What the new nodes cost together, each at its cheapest option.
    pub price: Price,
    /// No fleet that holds the placed pods on new nodes can cost less than this. Nought where pods had
    /// to move: what-ifs are compared by their prices.
    pub lower_bound: Price,
}

/// Pods for a node that exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingPlacement {
    /// Which node.
    pub node: usize,
    /// Which pods, ascending.
    pub pods: Vec<usize>,
}

/// A node to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewNode {
    /// Which pool it comes from.
    pub pool: usize,
    /// What its labels must satisfy, instance types and capacity types included; keys sorted.
    pub requirements: Vec<RequirementEntry>,
    /// What it may be, cheapest first: indexes into the pool's instance types.
    pub options: Vec<TypeOption>,
    /// Which pods are meant for it, ascending.
    pub pods: Vec<usize>,
    /// What those pods and the daemons request together.
    pub requests: ResourceList,
    /// Whether `minValues` had to be lowered.
    pub min_values_relaxed: bool,
}

/// An instance type a new node may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeOption {
    /// Which of the pool's instance types.
    pub instance_type: usize,
    /// Its cheapest offering that fits: an index into the type's offerings.
    pub offering: usize,
    /// The price of that offering.
    pub price: Price,
}

/// A pod without a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unplaced {
    /// Which pod.
    pub pod: usize,
    /// The nearest reason, in words.
    pub reason: String,
}

/// What becomes of a cluster without some of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// The pods of those nodes that need another place.
    pub displaced: Vec<Displaced>,
    /// Where they and the waiting pods go. A pod whose index lies beyond those of the problem is
    /// the one that far on in `displaced`.
    pub solution: Solution,
}

/// A pod whose node is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Displaced {
    /// Which node of the problem it stands on.
    pub node: usize,
    /// Which of that node's pods it is.
    pub pod: usize,
}

impl Displaced {
    /// The pod itself.
    #[must_use]
    pub fn of(self, problem: &PlacementProblem) -> &Pod {
        &problem.nodes[self.node].pods[self.pod].pod
    }
}
