//! Why a claim is given up without anybody asking.

use super::liveness::{Step, limit};
use super::work::Work;
use crate::condition::claim::REGISTERED;
use crate::event::Failure;
use crate::memory::InstanceList;
use crate::observed::Claim;
use crate::reason::DeletionCause;
use crate::time::{Span, Time};
use crate::world::World;

/// Stored times are cut to whole seconds.
const SECOND: Span = Span::from_seconds(1);

/// The cause that holds now, if one does.
pub(super) fn cause(world: &World, claim: &Claim, now: Time) -> Option<DeletionCause> {
    let announced = world.memory.interrupted.get(&claim.meta.name);
    announced
        .map(|kind| DeletionCause::Interrupted(*kind))
        .or_else(|| refused(world, claim))
        .or_else(|| out_of_time(world, claim, now))
        .or_else(|| is_past(expires_at(claim), now).then_some(DeletionCause::Expired))
        .or_else(|| is_garbage(world, claim).then_some(DeletionCause::GarbageCollected))
}

/// Comes back when the next cause may hold.
pub(super) fn wake(work: &mut Work<'_>) {
    let limit = limit(work.world, work.claim).map(|(_, at)| at);
    for at in [limit, expires_at(work.claim)].into_iter().flatten() {
        work.decision.wake(at);
    }
}

/// Whether the cloud no longer has the instance of a claim whose node is not ready either. A node
/// that says it is ready is believed more than a list.
pub(in crate::planners) fn is_garbage(world: &World, claim: &Claim) -> bool {
    let Some(InstanceList { at: listed_at, instances }) = &world.memory.instances else {
        return false;
    };
    let registered = claim.status.conditions.get(REGISTERED);
    let joined_before = registered.is_some_and(|own| own.changed_at + SECOND <= *listed_at);
    let is_listed = claim.status.provider_id.as_ref().is_none_or(|id| instances.contains_key(id));
    claim.status.conditions.is_true(REGISTERED)
        && joined_before
        && !is_listed
        // A list that is silent about a shifted zone proves nothing.
        && world.shifted_zone_of(claim).is_none()
        && !world.node_of(claim).is_some_and(|node| node.is_ready)
}

fn refused(world: &World, claim: &Claim) -> Option<DeletionCause> {
    let is_launched =
        claim.status.provider_id.is_some() || world.memory.launched.contains_key(&claim.meta.uid);
    match world.memory.launch_failures.get(&claim.meta.name)? {
        _ if is_launched => None,
        Failure::InsufficientCapacity { .. } => Some(DeletionCause::InsufficientCapacity),
        Failure::NodeClassNotReady { .. } => Some(DeletionCause::NodeClassNotReady),
        _ => None,
    }
}

fn out_of_time(world: &World, claim: &Claim, now: Time) -> Option<DeletionCause> {
    let (step, at) = limit(world, claim)?;
    is_past(Some(at), now).then_some(match step {
        Step::Launch => DeletionCause::LaunchTimeout,
        Step::Registration => DeletionCause::RegistrationTimeout,
    })
}

fn expires_at(claim: &Claim) -> Option<Time> {
    let after = claim.spec.node.expire_after.duration()?;
    Some(claim.meta.created_at + Span::from(after))
}

fn is_past(at: Option<Time>, now: Time) -> bool {
    at.is_some_and(|at| now >= at)
}
