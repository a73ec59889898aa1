//! Nodes that are unhealthy: a condition of theirs has been bad for longer than the provider
//! tolerates.

mod brake;
mod diagnosis;

pub(super) use diagnosis::{Diagnosis, diagnose, next_due};

use std::cmp::Reverse;
use std::sync::Arc;

use kerf_model::budget::DisruptionReason;
use kerf_model::labels::annotation::DO_NOT_REPAIR;

use super::candidates::Candidate;
use super::method::{Method, Way};
use super::static_pools;
use crate::observed::Claim;
use crate::reason::Blocked;
use crate::time::{Span, Time};
use crate::world::World;

/// Replaces unhealthy nodes, the most urgent first.
pub(super) struct Repair;

impl Method for Repair {
    fn reason(&self) -> DisruptionReason {
        DisruptionReason::Unhealthy
    }

    fn consolidation_type(&self, _: usize) -> &'static str {
        ""
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn way(&self) -> Way {
        Way::Move
    }

    fn candidates<'a>(&self, world: &'a World, now: Time) -> Vec<Candidate<'a>> {
        if !world.settings.node_repair {
            return Vec::new();
        }
        let staying = world.claims.values().map(Arc::as_ref).filter(|it| !world.is_leaving(it));
        let diagnosed = staying.filter_map(|claim| sick(world, claim, now));
        let mut sick: Vec<(Reverse<u64>, Candidate<'_>)> =
            diagnosed.map(|(candidate, diagnosis)| (Reverse(diagnosis.score), candidate)).collect();
        sick.sort_by_key(|(score, each)| (*score, each.claim.meta.name.clone()));
        sick.into_iter().map(|(_, candidate)| candidate).collect()
    }

    fn is_candidate(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> bool {
        world.settings.node_repair
            && static_pools::can_replace(world, candidate)
            && diagnose(world, candidate.node, now).is_some()
    }

    /// Who looks after a node decides about its repair with an annotation of its own.
    fn veto(&self, world: &World, candidate: &Candidate<'_>, _: Time) -> Result<(), Blocked> {
        if candidate.node.annotations.get(DO_NOT_REPAIR).is_some_and(|value| value == "true") {
            return Err(Blocked::NodeDoNotRepair);
        }
        brake::released(world, candidate.pool)
    }

    fn forces_pods(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> bool {
        self.drain_within(world, candidate, now).is_some()
            || candidate.claim.spec.node.termination_grace.is_some()
    }

    fn drain_within(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> Option<Span> {
        let wanted = diagnose(world, candidate.node, now)?.drain_within?;
        let own = candidate.claim.spec.node.termination_grace.map(Span::from);
        Some(own.map_or(wanted, |own| own.min(wanted)))
    }
}

fn sick<'a>(
    world: &'a World,
    claim: &'a Claim,
    now: Time,
) -> Option<(Candidate<'a>, Diagnosis<'a>)> {
    // What excludes nearly all nodes is asked first.
    let diagnosis = diagnose(world, world.node_of(claim)?, now)?;
    let candidate = Candidate::of(world, claim)?;
    static_pools::can_replace(world, &candidate).then_some((candidate, diagnosis))
}
