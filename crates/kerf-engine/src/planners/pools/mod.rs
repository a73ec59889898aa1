//! Pools: whether they are valid and ready, what they use, how healthy their launches are.

mod budgets;
mod conditions;
mod hash;

use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, NODES, PODS, ResourceList};

use crate::action::ActionKind;
use crate::condition::Draft;
use crate::condition::pool::{DEPENDENTS, DISRUPTION_ALLOWED};
use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::{Name, Pool, PoolStatus};
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// One reconcile of a pool.
struct Reconcile<'a> {
    world: &'a World,
    pool: &'a Pool,
    now: Time,
    status: PoolStatus,
    conditions: Draft<'a>,
    decision: Decision,
}

/// How often the status says what a pool uses, at most.
const COUNT_EVERY: Span = Span::from_seconds(5);

/// What a pool needs now.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let Some(pool) = world.pools.get(name) else { return Decision::default() };
    if pool.meta.is_deleting() || !world.is_supported(&pool.spec.template.spec.node_class) {
        return Decision::default();
    }
    let mut reconcile = Reconcile {
        world,
        pool,
        now,
        status: pool.status.clone(),
        conditions: Draft::of(&pool.status.conditions, &DEPENDENTS, &pool.meta, now),
        decision: Decision::default(),
    };
    conditions::judge_readiness(&mut reconcile);
    conditions::judge_registration_health(&mut reconcile);
    count(&mut reconcile);
    hash::keep(&mut reconcile);
    reconcile.finish()
}

/// Notes what the pool uses, if it has not been noted a moment ago.
fn count(reconcile: &mut Reconcile<'_>) {
    // Every change of a claim leads here; not each is worth a write.
    if let Some(at) = reconcile.world.memory.counted_at.get(&reconcile.pool.meta.uid)
        && reconcile.now < *at + COUNT_EVERY
    {
        reconcile.decision.wake(*at + COUNT_EVERY);
        return;
    }
    let (resources, nodes) = usage(reconcile);
    let told = reconcile.conditions.get(DISRUPTION_ALLOWED).cloned();
    budgets::tell(reconcile);
    let is_told = told.as_ref() == reconcile.conditions.get(DISRUPTION_ALLOWED);
    if is_told && (&resources, nodes) == (&reconcile.status.resources, reconcile.status.nodes) {
        // Nothing will be written, so nothing else will note that it was counted.
        let pool = reconcile.pool.meta.uid.clone();
        reconcile.decision.remember(Update::Counted { pool, at: reconcile.now });
    }
    reconcile.status.resources = resources;
    reconcile.status.nodes = nodes;
}

/// The capacity of its nodes and claims that are not on their way out. The usual resources are
/// there even if nothing is.
fn usage(reconcile: &Reconcile<'_>) -> (ResourceList, u64) {
    let tally = reconcile.world.pool_tally(&reconcile.pool.meta.name);
    let mut sum: ResourceList = [CPU, MEMORY, PODS, EPHEMERAL_STORAGE]
        .into_iter()
        .map(|name| (name, Quantity::ZERO))
        .chain(tally.capacity.iter())
        .collect();
    // Each node says of itself that it is one; claims do not.
    sum.insert(NODES, Quantity::from_int(tally.staying));
    (sum, u64::try_from(tally.staying).unwrap_or(0))
}

impl Reconcile<'_> {
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
