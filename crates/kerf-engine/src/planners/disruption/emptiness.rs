//! Nodes without pods that would have to move.

use std::cmp::Reverse;

use kerf_model::budget::DisruptionReason::Empty;
use kerf_model::pool::Sizing;

use super::budgets::Budgets;
use super::candidates::{Candidate, Judge};
use super::{messages, metrics};
use crate::condition::claim::CONSOLIDATABLE;
use crate::decision::Decision;
use crate::memory::{EmptinessRound, Removal, Update};
use crate::observed::{Claim, Name, Pod};
use crate::time::{Span, Time};
use crate::world::World;

/// A node must still be empty so long after it was chosen.
const SECOND_LOOK_AFTER: Span = Span::from_seconds(15);

/// How soon to ask again whether pods have been placed.
const RECHECK_AFTER: Span = Span::from_seconds(1);

/// Nodes announced as held back in one search at most; the others wait for the next.
const HELD_BACK_NEWS_MAX: usize = 100;

/// Chooses empty nodes to take away, as many as budgets allow, the dearest first. Returns whether
/// there are any, so that it is worth asking again.
pub(super) fn choose(world: &World, now: Time, decision: &mut Decision) -> bool {
    let mut empty: Vec<Candidate<'_>> = candidates(world).collect();
    if empty.is_empty() {
        return false;
    }
    empty.sort_by_cached_key(|each| (Reverse(each.price(world)), each.claim.meta.name.clone()));
    let mut judge = Judge::new(world, now);
    let mut budgets = Budgets::of(world, now);
    let (mut chosen, mut held_back) = (Vec::new(), 0);
    for candidate in &empty {
        match judge.may_go(candidate) {
            Ok(()) if budgets.take(&candidate.pool.spec.name, Empty) => {
                chosen.push(candidate.claim.meta.name.clone());
            }
            Ok(()) if budgets.is_closed(&candidate.pool.spec.name, Empty) => {
                decision.record(messages::pool_closed(&candidate.pool.meta.name, Empty));
            }
            Ok(()) => {}
            Err(reason) if held_back < HELD_BACK_NEWS_MAX => {
                held_back += 1;
                decision.kubernetes_events.extend(messages::held_back(candidate, &reason));
            }
            Err(_) => {}
        }
    }
    if !chosen.is_empty() {
        let round = EmptinessRound { chosen_at: now, claims: chosen };
        decision.remember(Update::Emptiness(Some(round)));
        decision.wake(now + SECOND_LOOK_AFTER);
    }
    true
}

/// Empty nodes that have been quiet for long enough.
pub(super) fn candidates(world: &World) -> impl Iterator<Item = Candidate<'_>> {
    world.claims.values().filter_map(|claim| empty_candidate(world, claim))
}

/// Looks at chosen nodes again when some time has passed; those still empty, still free to go and
/// still within budgets are removed.
pub(super) fn look_again(
    world: &World,
    round: &EmptinessRound,
    now: Time,
    decision: &mut Decision,
) {
    let due = round.chosen_at + SECOND_LOOK_AFTER;
    if now < due {
        return decision.wake(due);
    }
    // Pods that are being placed may need these very nodes; they have a moment to say so.
    let batch = &world.memory.batch;
    let places_pods = batch.is_solving || batch.opened_at.is_some();
    if places_pods && now < due + world.settings.batch_max {
        return decision.wake(now + RECHECK_AFTER);
    }
    let mut judge = Judge::new(world, now);
    let mut budgets = Budgets::of(world, now);
    let mut kept: Vec<Candidate<'_>> = Vec::new();
    for name in &round.claims {
        let Some(candidate) = is_still_empty(world, name) else { continue };
        if judge.may_go(&candidate).is_ok() && budgets.take(&candidate.pool.spec.name, Empty) {
            kept.push(candidate);
        }
    }
    decision.samples.extend(metrics::validations_failed(round.claims.len() - kept.len()));
    decision.samples.extend(metrics::decided(&kept));
    for candidate in kept {
        let (claim, removal) =
            (candidate.claim.meta.name.clone(), Removal { reason: Empty, chosen_at: now });
        decision.remember(Update::Mark { claim, removal });
    }
    decision.remember(Update::Emptiness(None));
    decision.wake(now);
}

/// Whether a claim chosen for removal may still go.
pub(super) fn is_still_empty<'a>(world: &'a World, name: &Name) -> Option<Candidate<'a>> {
    let candidate = Candidate::of(world, world.claims.get(name)?)?;
    (wants_removal(&candidate) && is_empty(world, &candidate)).then_some(candidate)
}

fn empty_candidate<'a>(world: &'a World, claim: &'a Claim) -> Option<Candidate<'a>> {
    // What excludes most nodes of a busy cluster is asked first.
    let node = claim.status.node_name.as_ref()?;
    let is_busy = || world.pods_on(node).any(|pod| pod.is_reschedulable() && !costs_nothing(pod));
    if !claim.status.conditions.is_true(CONSOLIDATABLE) || is_busy() || world.is_leaving(claim) {
        return None;
    }
    let candidate = Candidate::of(world, claim)?;
    (wants_removal(&candidate) && is_empty(world, &candidate)).then_some(candidate)
}

fn wants_removal(candidate: &Candidate<'_>) -> bool {
    let pool = &candidate.pool.spec;
    pool.sizing == Sizing::Dynamic
        && !pool.disruption.consolidate_after.is_never()
        && candidate.claim.status.conditions.is_true(CONSOLIDATABLE)
}

/// Whether moving what runs there costs nothing.
fn is_empty(world: &World, candidate: &Candidate<'_>) -> bool {
    candidate.reschedulable_pods(world).all(costs_nothing)
}

/// Whether a pod's eviction cost, 1 + deletion cost / 2²⁷ + priority / 2²⁵, is not above zero.
fn costs_nothing(pod: &Pod) -> bool {
    let cost_times_2_27 = (1 << 27) + i64::from(pod.deletion_cost) + 4 * i64::from(pod.priority);
    cost_times_2_27 <= 0
}
