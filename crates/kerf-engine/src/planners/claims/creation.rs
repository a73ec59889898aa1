//! Claims that are decided on and not stored yet.

use crate::action::Deed;
use crate::decision::Decision;
use crate::memory::Memo;
use crate::observed::Name;
use crate::world::World;

/// Stores a claim, or drops the wish if its pool is gone.
pub(super) fn plan(world: &World, name: &Name) -> Decision {
    let mut decision = Decision::default();
    let Some(wish) = world.memory.creating.get(name) else { return decision };
    let (pool, uid) = &wish.pool;
    let is_wanted =
        world.pools.get(pool).is_some_and(|pool| pool.meta.uid == *uid && !pool.meta.is_deleting());
    if is_wanted {
        let reason = format!("pool {pool} needs another node");
        decision.act(Deed::CreateClaim(Box::new(wish.clone())), reason);
    } else {
        decision.remember(Memo::ForgetClaim(name.clone()));
    }
    decision
}
