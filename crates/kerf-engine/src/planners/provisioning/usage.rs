//! What pools use, nodes on their way included, against what they may use.

use std::collections::BTreeMap;

use kerf_model::pool::NodePool;
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

use super::held::{held, is_going_for_good};
use crate::action::NewClaim;
use crate::observed::Claim;
use crate::reason::NotPlaced;
use crate::world::World;
use crate::world::arrival::{Amounts, Arrivals};

/// What pools use of the resources they have limits for, each counted when it is first asked for.
pub(in crate::planners) struct Usage<'a> {
    world: &'a World,
    arrivals: Arrivals<'a>,
    used: BTreeMap<&'a str, ResourceList>,
    /// Counted when first asked for.
    held: Option<BTreeMap<String, ResourceList>>,
}

impl<'a> Usage<'a> {
    pub(in crate::planners) fn of(world: &'a World) -> Self {
        Self { world, arrivals: Arrivals::new(world), used: BTreeMap::new(), held: None }
    }

    /// Takes the capacity a new claim needs, if the limits of its pool leave it.
    ///
    /// # Errors
    /// The resource that would be used beyond its limit.
    pub(super) fn take(&mut self, pool: &'a NodePool, claim: &NewClaim) -> Result<(), NotPlaced> {
        if pool.limits.is_empty() {
            return Ok(());
        }
        let Amounts { capacity, .. } = self.arrivals.amounts_of_spec(&claim.spec);
        let used = self.used(pool);
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

    /// Takes what the replacements of some claims need together, if the limits of their pools leave
    /// it once those claims are gone. Until they are, they may stay after all, so of both the larger
    /// counts for who comes next.
    ///
    /// # Errors
    /// The first limit that would be passed, or that a pool is gone. Nothing is taken then.
    pub(in crate::planners) fn replace<'c>(
        &mut self,
        candidates: impl Iterator<Item = &'c Claim>,
        replacements: &[NewClaim],
    ) -> Result<(), NotPlaced> {
        let world = self.world;
        for pool in replacements.iter().filter_map(|it| world.pools.get(&it.pool.0)) {
            self.used(&pool.spec);
        }
        let mut before = self.used.clone();
        candidates.for_each(|claim| self.release(claim));
        let taken = replacements.iter().try_for_each(|claim| {
            let pool = world.pools.get(&claim.pool.0).ok_or(NotPlaced::NoPool)?;
            self.take(&pool.spec, claim)
        });
        if taken.is_ok() {
            before.iter_mut().for_each(|(pool, used)| used.raise_to(&self.used[pool]));
        }
        self.used = before;
        taken
    }

    /// Leaves out a claim that goes to make room for others.
    pub(super) fn release(&mut self, claim: &Claim) {
        self.change(claim, Quantity::saturating_sub);
    }

    /// Counts a claim again that stays after all.
    pub(super) fn keep(&mut self, claim: &Claim) {
        self.change(claim, Quantity::saturating_add);
    }

    fn change(&mut self, claim: &Claim, change: impl Fn(Quantity, Quantity) -> Quantity) {
        let pool = claim.pool().and_then(|pool| self.world.pools.get(pool));
        let Some(pool) = pool.filter(|pool| !pool.spec.limits.is_empty()) else { return };
        if is_going_for_good(self.world, claim) {
            return;
        }
        let capacity = self.arrivals.amounts_of_claim(claim).capacity;
        let used = self.used(&pool.spec);
        for (name, _) in pool.spec.limits.iter() {
            used.insert(name, change(used.quantity(name), capacity.quantity(name)));
        }
    }

    fn used(&mut self, pool: &'a NodePool) -> &mut ResourceList {
        if !self.used.contains_key(pool.name.as_str()) {
            let used = self.count(pool);
            self.used.insert(&pool.name, used);
        }
        self.used.entry(&pool.name).or_default()
    }

    /// What is there, what is on its way and what may have to stay. What is on its way out for good
    /// does not count.
    fn count(&mut self, pool: &NodePool) -> ResourceList {
        let world = self.world;
        let resources = pool.limits.iter().map(|(name, _)| name);
        let mut used = world.pool_capacity(&pool.name, resources);
        for claim in Arrivals::stored(world).filter(|it| it.pool() == Some(&pool.name)) {
            add(&mut used, &self.arrivals.amounts_of_claim(claim).capacity);
        }
        for (_, claim) in Arrivals::decided(world).filter(|(_, it)| *it.pool.0 == *pool.name) {
            add(&mut used, &self.arrivals.amounts_of_spec(&claim.spec).capacity);
        }
        let held = self.held.get_or_insert_with(|| held(world));
        held.get(&pool.name).into_iter().for_each(|held| add(&mut used, held));
        used.into_iter().filter_map(|(name, sum)| Some((name, sum?))).collect()
    }
}

/// Adds what there is of each resource; the first decides how the sum is written.
fn add(used: &mut [(&str, Option<Quantity>)], capacity: &ResourceList) {
    for (name, sum) in used {
        if let Some(more) = capacity.get(name) {
            *sum = Some(sum.map_or(more, |sum| sum.saturating_add(more)));
        }
    }
}
