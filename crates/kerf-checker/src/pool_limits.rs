//! Pools stay within their limits.

use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;
use kerf_scheduler::NewNode;

use crate::facts::Facts;
use crate::violation::{Rule, Violation};

/// The resource that counts nodes.
const NODES: &str = "nodes";

/// Checks every pool that gets nodes: what its nodes have and the most its new nodes may have,
/// together.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, pool) in facts.problem.pools.iter().enumerate() {
        if !facts.solution.new_nodes.iter().any(|node| node.pool == index) {
            continue;
        }
        let (name, total) = (&pool.pool.name, used(facts, index));
        for (resource, limit) in pool.pool.limits.iter() {
            let reached = total.quantity(resource);
            if reached > limit {
                let sentence =
                    format!("pool {name} may have {limit} of {resource}, but gets {reached}");
                found.push(Violation::new(Rule::Limits, sentence));
            }
        }
    }
    found
}

/// What is held of a pool, what its nodes have and the most its new nodes may have, together.
pub(crate) fn used(facts: &Facts, pool: usize) -> ResourceList {
    let name = &facts.problem.pools[pool].pool.name;
    let mut total = facts.problem.held.get(name).cloned().unwrap_or_default();
    for node in facts.problem.nodes.iter().filter(|node| node.pool.as_ref() == Some(name)) {
        total.add(&counted(node.capacity.clone()));
    }
    let new = facts.solution.new_nodes.iter().filter(|node| node.pool == pool);
    new.for_each(|node| total.add(&counted(largest(facts, node))));
    total
}

pub(crate) fn counted(mut capacity: ResourceList) -> ResourceList {
    capacity.insert(NODES, Quantity::from_int(1));
    capacity
}

/// The most of each resource the node may turn out to have.
fn largest(facts: &Facts, node: &NewNode) -> ResourceList {
    let types = &facts.problem.pools[node.pool].instance_types;
    let mut largest = ResourceList::new();
    for option in &node.options {
        largest.raise_to(&types[option.instance_type].capacity);
    }
    largest
}
