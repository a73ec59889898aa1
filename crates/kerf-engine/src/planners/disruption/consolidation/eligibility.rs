//! Which nodes may be consolidated, and which may take pods of nodes that go.

use kerf_consolidation::Ineligible;
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use kerf_model::pool::{ConsolidationPolicy, Sizing};

use crate::condition::claim::{CONSOLIDATABLE, INITIALIZED};
use crate::observed::{Claim, Pod, Pool};
use crate::planners::disruption::candidates::Candidate;
use crate::reason::Blocked;
use crate::time::{Span, Time};
use crate::world::World;

/// Whether a node's pool wants it consolidated, and it is known what it is and what it costs.
pub(super) fn is_wanted(world: &World, candidate: &Candidate<'_>) -> bool {
    let spec = &candidate.pool.spec;
    spec.disruption.policy != ConsolidationPolicy::WhenEmpty
        && pool_allows(world, candidate).is_ok()
}

/// Whether a node may be chosen now; if not, the nearest cause.
pub(super) fn judge(world: &World, candidate: &Candidate<'_>, now: Time) -> Result<(), Ineligible> {
    pool_allows(world, candidate)?;
    match candidate.claim.status.conditions.is_true(CONSOLIDATABLE) {
        true => Ok(()),
        false => Err(Ineligible::ConsolidateAfter {
            until: quiet_at(world, candidate.claim, candidate.pool).unwrap_or(now).seconds(),
        }),
    }
}

fn pool_allows(world: &World, candidate: &Candidate<'_>) -> Result<(), Ineligible> {
    let Candidate { node, pool, .. } = candidate;
    if pool.spec.sizing != Sizing::Dynamic {
        return Err(Ineligible::StaticPool);
    }
    let label = |key: &str| node.labels.get(key);
    let is_known = |name: &String| world.instance_type(&pool.meta.name, name).is_some();
    if !label(INSTANCE_TYPE).is_some_and(is_known)
        || label(ZONE).is_none()
        || label(CAPACITY_TYPE).is_none()
    {
        return Err(Ineligible::Unknown);
    }
    match pool.spec.disruption.consolidate_after.is_never() {
        true => Err(Ineligible::ConsolidationNever),
        false => Ok(()),
    }
}

/// When a node will have been quiet for as long as its pool says.
fn quiet_at(world: &World, claim: &Claim, pool: &Pool) -> Option<Time> {
    let after = Span::from(pool.spec.disruption.consolidate_after.duration()?);
    let seen = world.memory.pod_events.get(&claim.meta.name).copied();
    let last = claim.status.last_pod_event_at.max(seen);
    let up_at = || claim.status.conditions.get(INITIALIZED).map(|it| it.changed_at);
    Some(last.or_else(up_at)? + after)
}

/// Whether nobody on a node has to move: empty nodes go by themselves.
pub(super) fn is_empty(world: &World, candidate: &Candidate<'_>) -> bool {
    !world.pods_on(&candidate.node.meta.name).any(Pod::holds_node)
}

/// Whether pods of nodes that go may come to a node that is up: it is not inside its pool's
/// `consolidateAfter` window, and does not go itself because it is empty.
pub(super) fn may_receive(world: &World, candidate: &Candidate<'_>) -> bool {
    let spec = &candidate.pool.spec;
    let never = spec.disruption.consolidate_after.is_never();
    if spec.sizing != Sizing::Dynamic || never {
        return true;
    }
    candidate.claim.status.conditions.is_true(CONSOLIDATABLE) && !is_empty(world, candidate)
}

/// What the judge of all methods says, in the words of the plan.
pub(super) fn ineligible(blocked: &Blocked) -> Ineligible {
    match blocked {
        Blocked::Rebooting => Ineligible::Rebooting,
        Blocked::Deleting => Ineligible::BeingDeleted,
        Blocked::Nominated => Ineligible::Nominated,
        Blocked::NodeDoNotDisrupt | Blocked::NodeDoNotRepair => Ineligible::DoNotDisruptNode,
        Blocked::ZoneShifted { .. } => Ineligible::ZoneShifted,
        Blocked::PodDoNotDisrupt { pod } => Ineligible::DoNotDisruptPod { pod: pod.to_string() },
        Blocked::PodDisruptionBudget { namespace, name, pod } => Ineligible::PodDisruptionBudget {
            pod: pod.to_string(),
            pdb: format!("{namespace}/{name}"),
        },
        Blocked::SeveralPodDisruptionBudgets { pod } => {
            Ineligible::SeveralPodDisruptionBudgets { pod: pod.to_string() }
        }
        Blocked::Budget { .. } => Ineligible::Budget { until: None },
        // Static pools are not consolidated, and the others are about reasons of their own.
        Blocked::TooManyUnhealthy { .. }
        | Blocked::NoPlace { .. }
        | Blocked::StaticPoolAtLimit { .. }
        | Blocked::ReservationsFull { .. }
        | Blocked::PoolNotReady { .. } => Ineligible::Unknown,
    }
}
