//! Nodes without pods that would have to move.

use std::cmp::Reverse;

use kerf_model::budget::DisruptionReason;
use kerf_model::pool::Sizing;

use super::candidates::Candidate;
use super::method::{Method, Way};
use crate::command::Command;
use crate::condition::claim::CONSOLIDATABLE;
use crate::observed::{Claim, Pod};
use crate::time::Time;
use crate::world::World;

/// Deletes empty nodes, the dearest first.
pub(super) struct Emptiness;

impl Method for Emptiness {
    fn reason(&self) -> DisruptionReason {
        DisruptionReason::Empty
    }

    fn consolidation_type(&self, _: usize) -> &'static str {
        "empty"
    }

    fn is_self_contained(&self) -> bool {
        true
    }

    fn candidates<'a>(&self, world: &'a World, _: Time) -> Vec<Candidate<'a>> {
        let mut empty: Vec<Candidate<'_>> = empty_nodes(world).collect();
        empty.sort_by_cached_key(|each| (Reverse(each.price(world)), each.claim.meta.name.clone()));
        empty
    }

    fn is_candidate(&self, world: &World, candidate: &Candidate<'_>, _: Time) -> bool {
        wants_removal(candidate) && is_empty(world, candidate)
    }

    fn way(&self) -> Way {
        Way::Plan(delete)
    }
}

/// One command for all: nothing comes in their place.
fn delete(_: &World, candidates: &[Candidate<'_>], now: Time) -> Vec<Command> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let candidates = candidates.iter().map(Candidate::reference).collect();
    let reason = DisruptionReason::Empty;
    vec![Command::proposed(reason, candidates, Vec::new(), Vec::new(), now)]
}

/// Empty nodes that have been quiet for long enough.
fn empty_nodes(world: &World) -> impl Iterator<Item = Candidate<'_>> {
    let nodes = world.idle_nodes().filter_map(|name| world.nodes.get(name));
    nodes.filter_map(|node| empty_candidate(world, world.claim_of(node)?))
}

fn empty_candidate<'a>(world: &'a World, claim: &'a Claim) -> Option<Candidate<'a>> {
    let node = claim.status.node_name.as_ref()?;
    if world.pods_on(node).any(Pod::holds_node) || world.is_leaving(claim) {
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
    !world.pods_on(&candidate.node.meta.name).any(Pod::holds_node)
}
