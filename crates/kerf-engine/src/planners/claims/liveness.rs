//! Time limits of a claim's first steps.

use crate::condition::claim::{LAUNCHED, REGISTERED};
use crate::observed::Claim;
use crate::time::{Span, Time};
use crate::world::World;

/// An instance that has not been launched by then will not be.
const LAUNCH_WITHIN: Span = Span::from_minutes(5);

/// The step a claim is at, while it has a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Launch,
    Registration,
}

/// The step whose time limit runs, and when it ends.
pub(super) fn limit(world: &World, claim: &Claim) -> Option<(Step, Time)> {
    let conditions = &claim.status.conditions;
    if conditions.is_true(REGISTERED) {
        return None;
    }
    let is_launched =
        conditions.is_true(LAUNCHED) || world.memory.launched.contains_key(&claim.meta.uid);
    Some(if is_launched {
        (Step::Registration, claim.meta.created_at + world.settings.registration_within)
    } else {
        (Step::Launch, claim.meta.created_at + LAUNCH_WITHIN)
    })
}
