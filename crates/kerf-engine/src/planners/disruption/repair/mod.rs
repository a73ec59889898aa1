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
use crate::memory::WantedReboot;
use crate::observed::Claim;
use crate::planners::disruption_cost::disruption_cost_parts;
use crate::provider::RepairAction;
use crate::reason::{Blocked, RepairCause};
use crate::time::{Span, Time};
use crate::world::World;

/// Replaces or reboots unhealthy nodes, the most urgent first.
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
        let mut sick: Vec<(Candidate<'_>, Diagnosis<'_>)> = diagnosed.collect();
        sick.sort_by_cached_key(|(each, diagnosis)| {
            let cost = disruption_cost_parts(world, each.claim, each.node, now);
            (Reverse(diagnosis.score), cost, each.claim.meta.name.clone())
        });
        sick.into_iter().map(|(candidate, _)| candidate).collect()
    }

    /// A node that joined and did not come up is repaired too.
    fn candidate<'a>(&self, world: &'a World, claim: &'a Claim) -> Option<Candidate<'a>> {
        Candidate::registered(world, claim)
    }

    fn is_candidate(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> bool {
        world.settings.node_repair
            && static_pools::can_replace(world, candidate)
            && diagnose(world, candidate.claim, candidate.node, now)
                .is_some_and(|diagnosis| diagnosis.action == RepairAction::ReplaceNode)
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

    fn reboot(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> Option<WantedReboot> {
        let diagnosis = diagnose(world, candidate.claim, candidate.node, now)?;
        (diagnosis.action == RepairAction::RebootNode).then(|| WantedReboot {
            at: now,
            condition: diagnosis.condition.kind.clone(),
            reason: diagnosis.condition.reason.clone(),
            drain_within: self.drain_within(world, candidate, now),
        })
    }

    fn cause(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> Option<RepairCause> {
        diagnose(world, candidate.claim, candidate.node, now).map(Diagnosis::cause)
    }

    fn drain_within(&self, world: &World, candidate: &Candidate<'_>, now: Time) -> Option<Span> {
        let (wanted, _) = diagnose(world, candidate.claim, candidate.node, now)?.drain_within?;
        let own = candidate.claim.spec.node.termination_grace.map(Span::from);
        Some(own.map_or(wanted, |own| own.min(wanted)))
    }
}

fn sick<'a>(
    world: &'a World,
    claim: &'a Claim,
    now: Time,
) -> Option<(Candidate<'a>, Diagnosis<'a>)> {
    // What excludes nearly all nodes is asked first. What is decided on is not decided again.
    let diagnosis = diagnose(world, claim, world.node_of(claim)?, now)?;
    let candidate = Candidate::registered(world, claim).filter(|_| !world.wants_reboot(claim))?;
    static_pools::can_replace(world, &candidate).then_some((candidate, diagnosis))
}
