//! Pools: whether they are valid and ready, what they use, how healthy their launches are.

mod counter;
mod hash;
mod health;
mod readiness;

use crate::action::ActionKind;
use crate::condition::Draft;
use crate::condition::pool::DEPENDENTS;
use crate::decision::Decision;
use crate::observed::{Name, Pool, PoolStatus};
use crate::reason::Reason;
use crate::time::Time;
use crate::world::World;

/// A pool being looked at.
struct Work<'a> {
    world: &'a World,
    pool: &'a Pool,
    now: Time,
    status: PoolStatus,
    conditions: Draft<'a>,
    decision: Decision,
}

/// What a pool needs now.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let Some(pool) = world.pools.get(name) else { return Decision::default() };
    if pool.meta.is_deleting() || !world.is_supported(&pool.spec.template.spec.node_class) {
        return Decision::default();
    }
    let mut work = Work {
        world,
        pool,
        now,
        status: pool.status.clone(),
        conditions: Draft::of(&pool.status.conditions, &DEPENDENTS, &pool.meta, now),
        decision: Decision::default(),
    };
    readiness::judge(&mut work);
    health::judge(&mut work);
    counter::count(&mut work);
    hash::keep(&mut work);
    work.finish()
}

impl Work<'_> {
    fn finish(mut self) -> Decision {
        self.status.conditions = self.conditions.into_conditions();
        if self.status != self.pool.status {
            let (name, revision) = (self.pool.meta.name.clone(), self.pool.meta.revision);
            let status = Box::new(self.status);
            let kind = ActionKind::WritePoolStatus { name, revision, status };
            self.decision.act(kind, Reason::PoolStatusOutdated);
        }
        self.decision
    }
}
