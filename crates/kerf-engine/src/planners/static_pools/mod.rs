//! Static pools: as many nodes as `spec.replicas` says, whatever pods ask for.
//!
//! ```text
//!  fewer than replicas ─► claims from the template, within limits.nodes
//!  more than replicas  ─► surplus: not launched, then empty, then cheapest to disrupt
//! ```
//!
//! Budgets pace neither, but nodes that go here count as away for whatever else budgets pace. What
//! has drifted or is unhealthy is replaced one for one by
//! [disruption](super::disruption), while there are not too many.

mod surplus;
mod tally;

pub(super) use tally::Tally;

use std::collections::BTreeSet;

use kerf_model::pool::Sizing;

use crate::action::{Action, ActionKind};
use crate::condition::READY;
use crate::decision::Decision;
use crate::event::{Kind, Outcome};
use crate::memory::Update;
use crate::observed::{Name, Pool};
use crate::planners::{disruption, provisioning};
use crate::reason::{DeletionCause, Reason};
use crate::time::Time;
use crate::world::World;

/// Claims decided on in one go at most; the next come when the first are stored.
const GROWTH_MAX: u64 = 500;
/// Names are made of the time and a number, which no other decision about the pool uses.
const FIRST_ORDINAL: usize = 2 << 32;

/// The kinds that say how many nodes a pool has, and which of them it can do without.
const COUNTED_BY: [Kind; 4] = [Kind::Pool, Kind::Claim, Kind::Node, Kind::Pod];

/// How many nodes a pool shall have, if it is a static one that is looked after.
pub(super) fn replicas(world: &World, pool: &Pool) -> Option<u64> {
    match pool.spec.sizing {
        Sizing::Static { replicas } if world.settings.static_capacity => Some(replicas),
        _ => None,
    }
}

/// Whether claims can be made from a pool now.
pub(super) fn is_ready(pool: &Pool) -> bool {
    !pool.meta.is_deleting() && pool.status.conditions.is_true(READY)
}

/// What a static pool needs now.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let mut decision = Decision::default();
    let Some(pool) = world.pools.get(name) else { return decision };
    let Some(replicas) = replicas(world, pool) else { return decision };
    let is_ours = world.is_supported(&pool.spec.template.spec.node_class);
    // A claim that nobody can read may be one of this pool.
    let is_counted = world.unreadable(Kind::Claim).next().is_none();
    if pool.meta.is_deleting() || !is_ours || !is_counted {
        return decision;
    }
    let tally = Tally::of(world, pool);
    if tally.active() < replicas {
        grow(world, pool, replicas, &tally, now, &mut decision);
    }
    if world.is_fresh(&COUNTED_BY, now) {
        surplus::choose(world, replicas, &tally, now, &mut decision);
    }
    decision
}

/// What to make of a finished deletion: where launches fail, the next are not tried at once.
pub(super) fn conclude(
    world: &World,
    name: &Name,
    action: &Action,
    outcome: &Outcome,
    now: Time,
) -> Decision {
    let mut decision = Decision::default();
    let has_failed = matches!(
        action.reason,
        Reason::Deletion(
            DeletionCause::InsufficientCapacity
                | DeletionCause::NodeClassNotReady
                | DeletionCause::LaunchTimeout
                | DeletionCause::RegistrationTimeout
        )
    );
    let is_deleted = matches!(action.kind, ActionKind::DeleteClaim { .. });
    if !has_failed || !is_deleted || !matches!(outcome, Outcome::Done) {
        return decision;
    }
    let pool = world.claims.get(name).and_then(|claim| world.pools.get(claim.pool()?));
    if let Some(pool) = pool.filter(|pool| replicas(world, pool).is_some()) {
        disruption::hold_off_pool(world, pool, now, &mut decision);
    }
    decision
}

/// Decides on claims for the nodes that are missing.
fn grow(
    world: &World,
    pool: &Pool,
    replicas: u64,
    tally: &Tally<'_>,
    now: Time,
    decision: &mut Decision,
) {
    // What is about to be deleted still runs; what replaces it is counted once it is decided on.
    let is_missing = tally.active() + tally.disrupted < replicas;
    if !is_missing || !is_ready(pool) {
        return;
    }
    if let Some(until) = disruption::held_off_until(world, &pool.meta.name, now) {
        return decision.wake(until);
    }
    // Those chosen to go may stay after all, unless they are being deleted by now.
    let there = tally.active() + tally.planned + tally.surplus.len() as u64;
    let missing = replicas.saturating_sub(there);
    let count = missing.min(tally.headroom(pool)).min(GROWTH_MAX);
    let mut names = BTreeSet::new();
    for ordinal in (FIRST_ORDINAL..).take(usize::try_from(count).unwrap_or(usize::MAX)) {
        let name = provisioning::free_name(world, pool, now, ordinal, &names);
        let claim = provisioning::from_template(pool, &name, &world.settings);
        decision.remember(Update::Create(Box::new(claim)));
        names.insert(name);
    }
}
