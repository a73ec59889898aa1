//! Nodes that are no longer what their pool and node class ask for.

use kerf_model::budget::DisruptionReason;

use super::candidates::Candidate;
use super::method::{Method, Way};
use super::{hold_off, static_pools};
use crate::condition::claim::DRIFTED;
use crate::time::{Span, Time};
use crate::world::World;

/// Replaces drifted nodes: empty ones first, then those that drifted first.
pub(super) struct Drift;

/// A node whose pods had no place to go is asked about again after the others, for so long.
const BLOCKED_WAITS: Span = Span::from_minutes(1);

impl Method for Drift {
    fn reason(&self) -> DisruptionReason {
        DisruptionReason::Drifted
    }

    fn consolidation_type(&self, _: usize) -> &'static str {
        ""
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn forces_pods(&self, _: &World, candidate: &Candidate<'_>, _: Time) -> bool {
        candidate.claim.spec.node.termination_grace.is_some()
    }

    fn way(&self) -> Way {
        Way::Move
    }

    fn candidates<'a>(&self, world: &'a World, now: Time) -> Vec<Candidate<'a>> {
        let mut drifted: Vec<Candidate<'_>> = drifted_nodes(world, now).collect();
        drifted.sort_by_cached_key(|each| {
            let name = each.claim.meta.name.clone();
            let was_blocked = world.memory.what_ifs.blocked.get(&name);
            let is_last = was_blocked.is_some_and(|at| now < *at + BLOCKED_WAITS);
            let has_pods = each.reschedulable_pods(world).next().is_some();
            (is_last, has_pods, drifted_at(each), name)
        });
        drifted
    }

    fn is_candidate(&self, world: &World, candidate: &Candidate<'_>, _: Time) -> bool {
        has_drifted(world, candidate)
    }
}

/// Drifted nodes that stay as yet and that Kerf may replace.
fn drifted_nodes(world: &World, now: Time) -> impl Iterator<Item = Candidate<'_>> {
    let staying = world.drifted_claims().filter(|claim| !world.is_leaving(claim));
    let candidates = staying.filter_map(|claim| Candidate::of(world, claim));
    candidates.filter(move |each| {
        has_drifted(world, each) && !hold_off::is_held_off(world, &each.pool.meta.name, now)
    })
}

fn has_drifted(world: &World, candidate: &Candidate<'_>) -> bool {
    candidate.claim.status.conditions.is_true(DRIFTED)
        && static_pools::can_replace(world, candidate)
}

fn drifted_at(candidate: &Candidate<'_>) -> Option<Time> {
    candidate.claim.status.conditions.get(DRIFTED).map(|condition| condition.changed_at)
}
