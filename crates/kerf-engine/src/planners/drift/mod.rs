//! Whether a claim still is what its pool and its node class ask for.
//!
//! ```text
//!  pool: template, requirements ─► offers: type, offering ─► provider: class, instance
//! ```
//!
//! The first that is no longer right is the reason. What is not known makes nothing drift, and takes
//! nothing back either.

mod offers;
mod pool;
mod provider;

use crate::condition::claim::LAUNCHED;
use crate::decision::Decision;
use crate::observed::Claim;
use crate::time::{Span, Time};
use crate::world::World;
pub(super) use pool::is_about_pool;

/// How a claim compares with what is asked for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict<'a> {
    /// It has drifted, for this reason.
    Drifted(&'a str),
    /// It is what is asked for.
    Current,
    /// Something about it is not known now.
    Unknown,
}

/// How often a claim is looked at when nothing changes.
const LOOK_EVERY: Span = Span::from_minutes(5);

/// Compares a claim with what is asked for now. Notes what was looked up, and when to look again.
pub(super) fn judge<'a>(
    world: &'a World,
    claim: &'a Claim,
    now: Time,
    decision: &mut Decision,
) -> Verdict<'a> {
    if !claim.status.conditions.is_true(LAUNCHED) {
        return Verdict::Current;
    }
    let Some(pool) = claim.pool().and_then(|pool| world.pools.get(pool)) else {
        return Verdict::Unknown;
    };
    decision.wake(now + LOOK_EVERY);
    if let Some(reason) = pool::drift(world, pool, claim) {
        return Verdict::Drifted(reason);
    }
    offers::judge(world, pool, claim, now, decision).or_else(|| provider::judge(world, claim))
}

impl<'a> Verdict<'a> {
    /// The verdict of the next look, unless this one found something.
    fn or_else(self, next: impl FnOnce() -> Verdict<'a>) -> Verdict<'a> {
        match self {
            Verdict::Drifted(_) => self,
            Verdict::Current => next(),
            Verdict::Unknown => match next() {
                Verdict::Current => Verdict::Unknown,
                found => found,
            },
        }
    }
}
