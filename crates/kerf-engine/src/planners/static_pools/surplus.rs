//! Which nodes of a static pool go when it has too many.

use kerf_model::labels::annotation::DO_NOT_DISRUPT;

use super::Tally;
use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::{Claim, Pod, PodOwner};
use crate::planners::disruption_cost::disruption_cost_parts;
use crate::time::Time;
use crate::world::World;

/// How much is lost with a node, least first: the order in which nodes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    /// Nothing was launched.
    Unlaunched,
    /// Nothing runs there but daemons.
    Empty,
    /// Something does.
    Busy {
        /// Whether something there asks not to be disturbed.
        is_protected: bool,
        /// What evicting everything costs, in parts of 2²⁷, less the older the node is.
        cost_parts: i128,
    },
}

/// Chooses as many claims as there are too many; those chosen before are kept to, so that a change
/// of mind never takes two nodes for one. Where there are not too many any more, they stay.
pub(super) fn choose(
    world: &World,
    replicas: u64,
    tally: &Tally<'_>,
    now: Time,
    decision: &mut Decision,
) {
    // Only what is stored can be deleted; what is decided on is counted and comes first.
    let excess = tally.active().saturating_sub(replicas);
    let mut staying: Vec<(Loss, &Claim)> =
        tally.staying.iter().map(|claim| (loss(world, claim, now), *claim)).collect();
    if excess > 0 {
        staying.sort_by(|left, right| {
            left.0.cmp(&right.0).then_with(|| left.1.meta.name.cmp(&right.1.meta.name))
        });
        let excess = usize::try_from(excess).unwrap_or(usize::MAX);
        for (_, claim) in staying.iter().take(excess) {
            decision.remember(Update::Surplus(claim.meta.name.clone()));
        }
        return;
    }
    let missing = replicas.saturating_sub(tally.active() + tally.planned);
    for claim in tally.surplus.iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
        decision.remember(Update::NotSurplus(claim.meta.name.clone()));
    }
}

fn loss(world: &World, claim: &Claim, now: Time) -> Loss {
    let is_launched =
        claim.status.provider_id.is_some() || world.memory.launched.contains_key(&claim.meta.uid);
    if !is_launched {
        return Loss::Unlaunched;
    }
    let Some(node) = world.node_of(claim) else { return Loss::Empty };
    let is_kept = |pod: &Pod| pod.is_active() && pod.is_protected(now);
    let pods = || world.pods_on(&node.meta.name);
    let is_daemon = |pod: &Pod| matches!(pod.owner, PodOwner::DaemonSet | PodOwner::Node);
    if pods().all(|pod| is_daemon(pod) && !is_kept(pod)) {
        return Loss::Empty;
    }
    let is_protected = node.annotations.get(DO_NOT_DISRUPT).is_some_and(|value| value == "true")
        || pods().any(is_kept);
    Loss::Busy { is_protected, cost_parts: disruption_cost_parts(world, claim, node, now) }
}
