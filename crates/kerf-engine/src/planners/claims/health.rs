//! What became of a claim's launch, for the health of its pool.

use crate::condition::claim::LAUNCHED;
use crate::condition::pool::NODE_REGISTRATION_HEALTHY;
use crate::condition::{Condition, Status};
use crate::memory::{Registration, Update};
use crate::observed::Claim;
use crate::reason::DeletionCause;
use crate::world::World;

/// Notes for a claim's pool what became of a launch. What a former process knew is in the pool's
/// condition: one success, or just enough failures.
pub(super) fn outcome(world: &World, claim: &Claim, registration: Registration) -> Vec<Update> {
    let pool = claim.pool().and_then(|pool| world.pools.get(pool));
    let pool = pool.filter(|pool| claim.owner_pool.as_ref() == Some(&pool.meta.uid));
    let Some(pool) = pool else { return Vec::new() };
    let mut outcomes = Vec::new();
    if !world.memory.registrations.contains_key(&pool.meta.uid) {
        let known = pool.status.conditions.get(NODE_REGISTRATION_HEALTHY);
        match known.map(|condition| condition.status) {
            Some(Status::True) => outcomes.push(Registration::Joined),
            Some(Status::False) => outcomes.extend([failure(known), failure(known)]),
            _ => {}
        }
    }
    outcomes.push(registration);
    let update = |registration| Update::Registration { pool: pool.meta.uid.clone(), registration };
    outcomes.into_iter().map(update).collect()
}

/// A launch that became nothing in time. A launch that was refused says why by itself.
pub(super) fn timeout(claim: &Claim, cause: DeletionCause) -> Registration {
    let launched = claim.status.conditions.get(LAUNCHED);
    match cause {
        DeletionCause::LaunchTimeout if launched.is_some() => failure(launched),
        _ => Registration::Failed {
            reason: "RegistrationFailed".to_owned(),
            message: "machines were launched and their nodes did not join".to_owned(),
        },
    }
}

fn failure(condition: Option<&Condition>) -> Registration {
    let (reason, message) =
        condition.map(|own| (own.reason.clone(), own.message.clone())).unwrap_or_default();
    Registration::Failed { reason, message }
}
