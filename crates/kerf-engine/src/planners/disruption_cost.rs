//! What it costs to disrupt everything on a node.

use crate::observed::{Claim, Node};
use crate::time::{Span, Time};
use crate::world::World;

/// What evicting everything on a claim's node costs, in parts of 2²⁷. A node that will expire soon
/// is worth less.
pub(super) fn disruption_cost_parts(world: &World, claim: &Claim, node: &Node, now: Time) -> i128 {
    let pods = world.pods_on(&node.meta.name);
    let cost: i128 = pods.map(|pod| i128::from(pod.eviction_cost_parts())).sum();
    let Some(lifetime) = claim.spec.node.expire_after.duration().map(Span::from) else {
        return cost;
    };
    let left = lifetime.less(now.since(claim.meta.created_at));
    cost * i128::from(left.millis()) / i128::from(lifetime.millis().max(1))
}
