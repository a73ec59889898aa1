//! What a pool's nodes have together.

use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, NODES, PODS, ResourceList};

use super::Work;
use crate::memory::Update;
use crate::time::Span;

/// How often it is written down at most.
const EVERY: Span = Span::from_seconds(5);

/// Notes what the pool uses, if it has not been noted a moment ago.
pub(super) fn count(work: &mut Work<'_>) {
    // Every change of a claim leads here, and counting goes over all claims of the pool: what is
    // not written down yet is not counted yet.
    if let Some(at) = work.world.memory.counted_at.get(&work.pool.meta.uid)
        && work.now < *at + EVERY
    {
        work.decision.wake(*at + EVERY);
        return;
    }
    let (resources, nodes) = usage(work);
    if (&resources, nodes) == (&work.status.resources, work.status.nodes) {
        // Nothing will be written, so nothing else will note that it was counted.
        let pool = work.pool.meta.uid.clone();
        work.decision.remember(Update::Counted { pool, at: work.now });
    }
    work.status.resources = resources;
    work.status.nodes = nodes;
}

/// The capacity of its nodes and claims that are not on their way out. The usual resources are
/// there even if nothing is.
fn usage(work: &Work<'_>) -> (ResourceList, u64) {
    let world = work.world;
    let mut sum: ResourceList = [CPU, MEMORY, PODS, EPHEMERAL_STORAGE]
        .into_iter()
        .map(|name| (name, Quantity::ZERO))
        .collect();
    let mut nodes = 0;
    let claims = world.claims_of(&work.pool.meta.name);
    for claim in claims.filter(|claim| !world.is_leaving(claim)) {
        match world.node_of(claim) {
            // Most nodes are up: what they report counts as it is.
            Some(node) if node.is_initialized() => sum.add(&node.capacity),
            Some(node) => sum.add(&world.node_capacity(node)),
            None => sum.add(&claim.status.capacity),
        }
        nodes += 1;
    }
    // Each node says of itself that it is one; claims do not.
    sum.insert(NODES, Quantity::from_int(i64::try_from(nodes).unwrap_or(i64::MAX)));
    (sum, nodes)
}
