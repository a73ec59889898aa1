//! What pools use, nodes on their way included, against what they may use.

use std::collections::BTreeMap;

use kerf_model::labels::well_known::NODE_POOL;
use kerf_model::pool::NodePool;
use kerf_model::resources::ResourceList;

use crate::action::NewClaim;
use crate::reason::NotPlaced;
use crate::world::World;
use crate::world::arrival::{Amounts, Arrivals};
use crate::world::node_entry::NodeEntry;

/// What pools use of the resources they have limits for, each counted when it is first asked for.
pub(super) struct Usage<'a> {
    world: &'a World,
    arrivals: Arrivals<'a>,
    used: BTreeMap<&'a str, ResourceList>,
}

impl<'a> Usage<'a> {
    pub(super) fn of(world: &'a World) -> Self {
        Self { world, arrivals: Arrivals::new(world), used: BTreeMap::new() }
    }

    /// Takes the capacity a new claim needs, if the limits of its pool leave it.
    ///
    /// # Errors
    /// The resource that would be used beyond its limit.
    pub(super) fn take(&mut self, pool: &'a NodePool, claim: &NewClaim) -> Result<(), NotPlaced> {
        if pool.limits.is_empty() {
            return Ok(());
        }
        if !self.used.contains_key(pool.name.as_str()) {
            let used = self.count(pool);
            self.used.insert(&pool.name, used);
        }
        let Amounts { capacity, .. } = self.arrivals.amounts_of_spec(&claim.spec);
        let used = self.used.entry(&pool.name).or_default();
        for (name, limit) in pool.limits.iter() {
            let then = used.quantity(name).saturating_add(capacity.quantity(name));
            if then > limit {
                let (pool, resource) = (pool.name.as_str().into(), name.into());
                return Err(NotPlaced::LimitReached { pool, resource, used: then, limit });
            }
        }
        add_limited(used, &capacity, pool);
        Ok(())
    }

    /// What is there and what is on its way. What is on its way out does not count.
    fn count(&mut self, pool: &NodePool) -> ResourceList {
        let world = self.world;
        let mut used = ResourceList::new();
        for entry in world.node_entries() {
            if pool_of(&entry) == Some(&pool.name) && !world.is_entry_leaving(&entry) {
                match &entry.view {
                    Some(view) => add_limited(&mut used, &view.capacity, pool),
                    None => add_limited(&mut used, &world.node_capacity(&entry.node), pool),
                }
            }
        }
        for claim in Arrivals::stored(world).filter(|it| it.pool() == Some(&pool.name)) {
            let Amounts { capacity, .. } = self.arrivals.amounts_of_claim(claim);
            add_limited(&mut used, &capacity, pool);
        }
        for (_, claim) in Arrivals::decided(world).filter(|(_, it)| *it.pool.0 == *pool.name) {
            let Amounts { capacity, .. } = self.arrivals.amounts_of_spec(&claim.spec);
            add_limited(&mut used, &capacity, pool);
        }
        used
    }
}

/// The pool a node counts for: its claim's, or the one its label names.
fn pool_of(entry: &NodeEntry) -> Option<&str> {
    let claimed = entry.claim.as_ref().and_then(|claim| claim.pool());
    claimed.or_else(|| entry.node.labels.get(NODE_POOL).map(String::as_str))
}

fn add_limited(used: &mut ResourceList, capacity: &ResourceList, pool: &NodePool) {
    for (name, _) in pool.limits.iter() {
        let sum = used.quantity(name).saturating_add(capacity.quantity(name));
        used.insert(name, sum);
    }
}
