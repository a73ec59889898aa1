//! What nodes that are to go still hold of their pools' limits.
//!
//! A command can be given up until its candidates are deleted, and then they stay. Until then only
//! what comes in their place may use what they have.

use std::collections::BTreeMap;

use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

use crate::command::{Command, Replacement};
use crate::observed::{Claim, Name};
use crate::world::World;
use crate::world::arrival::Arrivals;
use crate::world::leaving::is_leaving_as_stored;

/// By pool with limits: what the candidates of commands have that are not being deleted, less what
/// comes in their place and is counted already.
pub(super) fn held(world: &World) -> BTreeMap<String, ResourceList> {
    let mut held: BTreeMap<String, ResourceList> = BTreeMap::new();
    let mut arrivals = Arrivals::new(world);
    for command in world.memory.commands.executing() {
        for (pool, left) in of_command(world, command, &mut arrivals) {
            held.entry(pool.to_owned()).or_default().add(&left);
        }
    }
    held
}

/// Whether nothing keeps a claim any more: it does not count against limits.
pub(super) fn is_going_for_good(world: &World, claim: &Claim) -> bool {
    let is_node_going = || {
        let node = world.node_of(claim);
        node.is_some_and(|node| {
            node.meta.is_deleting() || world.memory.drains.contains_key(&node.meta.name)
        })
    };
    is_leaving_as_stored(claim)
        || world.is_deletion_taken(claim)
        || world.memory.interrupted.contains_key(&claim.meta.name)
        || is_node_going()
}

fn of_command<'a>(
    world: &'a World,
    command: &Command,
    arrivals: &mut Arrivals<'a>,
) -> BTreeMap<&'a str, ResourceList> {
    let mut left: BTreeMap<&str, ResourceList> = BTreeMap::new();
    for candidate in &command.candidates {
        let claim = world.claims.get(&candidate.claim).filter(|it| it.meta.uid == candidate.uid);
        let Some(claim) = claim.filter(|claim| !is_going_for_good(world, claim)) else { continue };
        let Some(pool) = limited_pool(world, claim.pool()) else { continue };
        left.entry(pool).or_default().add(&arrivals.amounts_of_claim(claim).capacity);
    }
    if left.is_empty() {
        return left;
    }
    for name in command.replacements.iter().filter_map(ordered) {
        let stored = world.claims.get(name).filter(|claim| !world.is_leaving(claim));
        let (pool, capacity) = match (stored, world.memory.creating.get(name)) {
            (Some(claim), _) => (claim.pool(), arrivals.amounts_of_claim(claim).capacity),
            (None, Some(new)) if !world.claims.contains_key(name) => {
                (Some(&*new.pool.0), arrivals.amounts_of_spec(&new.spec).capacity)
            }
            _ => continue,
        };
        if let Some(left) = pool.and_then(|pool| left.get_mut(pool)) {
            take(left, &capacity);
        }
    }
    left
}

/// The name of a pool that has limits.
fn limited_pool<'a>(world: &'a World, name: Option<&str>) -> Option<&'a str> {
    let pool = world.pools.get(name?)?;
    (!pool.spec.limits.is_empty()).then_some(pool.spec.name.as_str())
}

fn ordered(replacement: &Replacement) -> Option<&Name> {
    match replacement {
        Replacement::Planned(_) => None,
        Replacement::Ordered(name) => Some(name),
    }
}

/// Takes what there is of each resource, and no more.
fn take(left: &mut ResourceList, capacity: &ResourceList) {
    let rest = |(name, has): (&str, Quantity)| {
        let rest = has.saturating_sub(capacity.quantity(name));
        (rest > Quantity::from_int(0)).then(|| (name.to_owned(), rest))
    };
    *left = left.iter().filter_map(rest).collect();
}
