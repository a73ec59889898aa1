//! Nodes that exist, as the scheduler sees them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kerf_model::labels::well_known::{INITIALIZED, INSTANCE_TYPE, NODE_POOL, REGISTERED};
use kerf_model::node::{BoundPod, Node as NodeView};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{NODES, ResourceList};
use kerf_model::taint::{REBOOTING_KEY, Taint, UNSCHEDULABLE_KEY, is_known_ephemeral};

use super::World;
use crate::condition::claim::REBOOTING;
use crate::observed::{Claim, Node};

impl Node {
    /// Whether its own labels and taints count, not those of its claim.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.labels.get(REGISTERED).is_some_and(|value| value == "true")
    }

    /// Whether it has come up fully.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.labels.get(INITIALIZED).is_some_and(|value| value == "true")
    }
}

impl Node {
    /// What it has, for those who count: what it does not report until it has come up is taken over
    /// from its claim.
    pub(crate) fn capacity_beside(&self, claim: &Claim) -> Cow<'_, ResourceList> {
        if self.is_initialized() {
            return Cow::Borrowed(&self.capacity);
        }
        let mut capacity = self.capacity.clone();
        fill_in(&mut capacity, &claim.status.capacity);
        Cow::Owned(capacity)
    }
}

impl World {
    /// A node with these pods on it, or `None` while it cannot be counted on: a managed one needs
    /// the instance's id, and its kind until it has come up.
    ///
    /// Until a managed node is registered its claim's labels and taints count, and until it is
    /// initialized its claim fills in the resources it does not report yet; taints that pass by
    /// themselves are left out until then, and while it reboots, so that the pods it had are planned
    /// back onto it. A node whose claim is gone comes up for nobody any more:
    /// it counts as it is.
    pub(crate) fn node_view(&self, node: &Node, pods: Vec<BoundPod>) -> Option<NodeView> {
        let claim = self.claim_of(node);
        let managed = claim.is_some() || node.labels.contains_key(NODE_POOL);
        let is_rebooting = claim.is_some_and(is_rebooting);
        let initialized = node.is_initialized() && !is_rebooting;
        if managed && (node.provider_id.is_none() || !initialized && !has_type(node, claim)) {
            return None;
        }
        let labels = match claim {
            Some(claim) if !node.is_registered() => {
                labels_to_come(&claim.spec.labels, &claim.spec.node.requirements)
            }
            _ => node.labels.clone(),
        };
        let (capacity, allocatable) = amounts(node, claim.filter(|_| !initialized));
        Some(NodeView {
            name: node.meta.name.to_string(),
            pool: labels.get(NODE_POOL).cloned(),
            labels,
            taints: taints(node, claim),
            initialized: initialized || claim.is_none(),
            capacity: one_node(capacity),
            allocatable,
            pods,
            volume_limits: node.volume_limits.clone(),
        })
    }

    /// What a node counts for against the limits of its pool.
    pub(crate) fn node_capacity(&self, node: &Node) -> ResourceList {
        let claim = self.claim_of(node).filter(|_| !node.is_initialized());
        one_node(amounts(node, claim).0)
    }
}

/// The labels a node will carry: its claim's own and what the requirements leave no choice about.
pub(super) fn labels_to_come(
    own: &BTreeMap<String, String>,
    requirements: &[RequirementEntry],
) -> BTreeMap<String, String> {
    let mut labels = own.clone();
    for entry in requirements {
        if let (Operator::In, [value]) = (entry.operator, entry.values.as_slice()) {
            labels.entry(entry.key.clone()).or_insert_with(|| value.clone());
        }
    }
    labels
}

/// Capacity with the one node it is, so that it counts against `limits.nodes`.
pub(super) fn one_node(mut capacity: ResourceList) -> ResourceList {
    capacity.insert(NODES, Quantity::from_int(1));
    capacity
}

fn is_rebooting(claim: &Claim) -> bool {
    claim.status.conditions.is_true(REBOOTING)
}

fn has_type(node: &Node, claim: Option<&Claim>) -> bool {
    node.labels.contains_key(INSTANCE_TYPE)
        || claim.is_some_and(|claim| claim.label(INSTANCE_TYPE).is_some())
}

fn taints(node: &Node, claim: Option<&Claim>) -> Vec<Taint> {
    let mut taints = match claim {
        Some(claim) if !node.is_registered() => {
            let closed = node.taints.iter().filter(|taint| taint.key == UNSCHEDULABLE_KEY);
            claim.spec.node.taints.iter().chain(closed).cloned().collect()
        }
        _ => node.taints.clone(),
    };
    if let Some(claim) = claim.filter(|claim| !node.is_initialized() || is_rebooting(claim)) {
        let startup = &claim.spec.node.startup_taints;
        let passes = |taint: &Taint| is_known_ephemeral(taint) || taint.key == REBOOTING_KEY;
        taints.retain(|taint| !passes(taint) && !startup.contains(taint));
    }
    taints
}

/// What the node has and what pods can use of it; what it does not report yet, which is also what
/// it reports as none, is taken over from its claim.
fn amounts(node: &Node, claim: Option<&Claim>) -> (ResourceList, ResourceList) {
    let (mut capacity, mut allocatable) = (node.capacity.clone(), node.allocatable.clone());
    if let Some(claim) = claim {
        fill_in(&mut capacity, &claim.status.capacity);
        fill_in(&mut allocatable, &claim.status.allocatable);
    }
    (capacity, allocatable)
}

fn fill_in(reported: &mut ResourceList, expected: &ResourceList) {
    for (name, quantity) in expected.iter() {
        if reported.quantity(name).is_zero() {
            reported.insert(name, quantity);
        }
    }
}
