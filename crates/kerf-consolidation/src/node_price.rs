//! What a node costs: the price of the offering it was bought by.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known;
use kerf_model::node::Node;
use kerf_model::price::Price;
use kerf_model::requirement::Operator;
use kerf_scheduler::PlacementProblem;

/// The prices of all nodes; nothing for those whose offering is not known, or sold without a price.
#[must_use]
pub fn node_prices(problem: &PlacementProblem) -> Vec<Price> {
    let named = problem.pools.iter().map(|pool| {
        let types = pool.instance_types.iter().map(|known| (known.name.as_str(), known));
        (pool.pool.name.as_str(), types.collect())
    });
    let named: BTreeMap<&str, BTreeMap<&str, &InstanceType>> = named.collect();
    let price = |node: &Arc<Node>| {
        let types = named.get(node.pool.as_ref()?.as_str())?;
        let instance_type = types.get(node.labels.get(well_known::INSTANCE_TYPE)?.as_str())?;
        // What has no price must not look like a million dollars to be saved.
        Some(offering_of(node, instance_type)?.price).filter(|price| price.is_known())
    };
    problem.nodes.iter().map(|node| price(node).unwrap_or(Price::ZERO)).collect()
}

/// The offering with the node's zone and capacity type, and all else that tells offerings apart.
fn offering_of<'a>(node: &Node, instance_type: &'a InstanceType) -> Option<&'a Offering> {
    let mut offerings = instance_type.offerings.iter();
    offerings.find(|offering| {
        offering.requirements.iter().all(|entry| match node.labels.get(&entry.key) {
            Some(value) => entry.operator != Operator::In || entry.values.contains(value),
            // A label that the node should have by now.
            None => entry.key != well_known::ZONE && entry.key != well_known::CAPACITY_TYPE,
        })
    })
}
