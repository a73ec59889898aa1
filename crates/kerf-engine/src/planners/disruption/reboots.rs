//! Nodes that are rebooted in place: nothing comes instead, and nobody asks where their pods go.

use super::candidates::Candidate;
use super::method::{Method, method_for};
use super::metrics;
use crate::condition::claim::REBOOTING;
use crate::decision::Decision;
use crate::memory::{RebootUpdate, Update};
use crate::observed::Claim;
use crate::time::Time;
use crate::world::World;
use kerf_model::budget::DisruptionReason;

/// Decides on the reboot of those candidates that a restart would heal. Returns the others.
pub(super) fn propose<'a>(
    world: &'a World,
    method: &dyn Method,
    candidates: Vec<Candidate<'a>>,
    now: Time,
    decision: &mut Decision,
) -> Vec<Candidate<'a>> {
    let mut others = Vec::new();
    for candidate in candidates {
        match method.reboot(world, &candidate, now) {
            Some(wanted) => {
                decision.remember(about(candidate.claim, RebootUpdate::Wanted(wanted)));
            }
            None => others.push(candidate),
        }
    }
    others
}

/// What to remember and count when a claim is about to become this: a reboot that was decided on
/// may be stored.
pub(super) fn on_change(world: &World, claim: &Claim, now: Time, decision: &mut Decision) {
    let Some(former) = world.claims.get(&claim.meta.name) else { return };
    let begins = !former.status.conditions.is_true(REBOOTING)
        && claim.status.conditions.is_true(REBOOTING)
        && former.meta.uid == claim.meta.uid;
    if !begins {
        return;
    }
    decision.remember(about(claim, RebootUpdate::Stored(now)));
    let reason = DisruptionReason::Unhealthy;
    let wanted = world.reboots(claim).and_then(|known| known.wanted.as_ref());
    let method = method_for(reason);
    let candidate = method.and_then(|method| method.candidate(world, former));
    if let (Some(wanted), Some(method), Some(candidate)) = (wanted, method, candidate) {
        decision.samples.extend(metrics::rebooted(method, &candidate));
        decision.samples.extend(metrics::removed(world, &candidate, reason));
        let (condition, within) = (&wanted.condition, wanted.drain_within);
        decision.samples.push(metrics::repaired(&candidate, condition, within));
    }
}

fn about(claim: &Claim, update: RebootUpdate) -> Update {
    Update::Reboot { claim: claim.meta.name.clone(), uid: claim.meta.uid.clone(), update }
}
