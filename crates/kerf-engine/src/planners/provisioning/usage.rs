//! What pools use, nodes on their way included, against what they may use.

use std::collections::BTreeMap;

use kerf_model::labels::well_known::NODE_POOL;
use kerf_model::pool::NodePool;
use kerf_model::resources::ResourceList;

use crate::action::NewClaim;
use crate::reason::NotPlaced;
use crate::world::World;
use crate::world::arrival::{Amounts, Arrivals};

/// What the pools with limits use.
pub(super) struct Usage<'a> {
    arrivals: Arrivals<'a>,
    used: BTreeMap<&'a str, ResourceList>,
}

impl<'a> Usage<'a> {
    /// What is there and what is on its way. What is on its way out does not count.
    pub(super) fn of(world: &'a World) -> Self {
        let mut usage = Self { arrivals: Arrivals::new(world), used: BTreeMap::new() };
        for node in world.nodes.values().filter(|node| !world.is_node_leaving(node)) {
            let claim = world.claim_of(node);
            let label = node.labels.get(NODE_POOL).map(String::as_str);
            if let Some(pool) = claim.and_then(|claim| claim.pool()).or(label) {
                usage.add(pool, &world.node_capacity(node));
            }
        }
        for claim in Arrivals::stored(world) {
            if let Some(pool) = claim.pool() {
                let Amounts { capacity, .. } = usage.arrivals.amounts_of_claim(claim);
                usage.add(pool, &capacity);
            }
        }
        for (_, claim) in Arrivals::decided(world) {
            let Amounts { capacity, .. } = usage.arrivals.amounts_of_spec(&claim.spec);
            usage.add(&claim.pool.0, &capacity);
        }
        usage
    }

    /// Takes the room a new claim needs, if the limits of its pool leave it.
    ///
    /// # Errors
    /// The resource that would be used beyond its limit.
    pub(super) fn take(&mut self, pool: &'a NodePool, claim: &NewClaim) -> Result<(), NotPlaced> {
        let Amounts { capacity, .. } = self.arrivals.amounts_of_spec(&claim.spec);
        let used = self.used.entry(&pool.name).or_default();
        for (name, limit) in pool.limits.iter() {
            let then = used.quantity(name).saturating_add(capacity.quantity(name));
            if then > limit {
                let (pool, resource) = (pool.name.as_str().into(), name.into());
                return Err(NotPlaced::LimitReached { pool, resource, used: then, limit });
            }
        }
        used.add(&capacity);
        Ok(())
    }

    fn add(&mut self, pool: &'a str, capacity: &ResourceList) {
        self.used.entry(pool).or_default().add(capacity);
    }
}
