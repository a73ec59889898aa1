//! Comparing claims with the cloud's instances, both ways.

mod orphans;

use std::collections::BTreeMap;

use super::{claims, termination};
use crate::action::{Action, ActionKind};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::{InstanceList, Update};
use crate::reason::{DeletionCause, Reason};
use crate::time::{Span, Time};
use crate::world::World;

/// How often the cloud's instances are listed.
const EVERY: Span = Span::from_minutes(2);
/// And while a node that does not answer is waited for.
const EVERY_IN_DOUBT: Span = Span::from_seconds(15);

/// Lists the instances when it is time, and gives up claims whose instance is gone.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    let listed_at = world.memory.instances.as_ref().map(|list| list.at);
    let every = if is_in_doubt(world) { EVERY_IN_DOUBT } else { EVERY };
    match listed_at.map(|at| at + every) {
        Some(due) if now < due => decision.wake(due),
        _ => decision.act(ActionKind::ListInstances, Reason::InstanceComparison),
    }
    let claims = world.claims.values().filter(|claim| !claim.meta.is_deleting());
    for claim in claims.filter(|claim| claims::is_garbage(world, claim)) {
        let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
        let reason = Reason::Deletion(DeletionCause::GarbageCollected);
        decision.act(ActionKind::DeleteClaim { name, uid }, reason);
    }
    decision
}

/// What to make of a list of instances. It is as old as the question: what came since is not in it.
pub(super) fn conclude(world: &World, action: &Action, outcome: &Outcome) -> Decision {
    let Outcome::Instances(instances) = outcome else { return Decision::default() };
    let mut decision = orphans::judge(world, instances);
    let instances: BTreeMap<_, _> =
        instances.iter().map(|instance| (instance.provider_id.clone(), instance.clone())).collect();
    decision.remember(Update::Instances(InstanceList { at: action.at, instances }));
    decision
}

/// Whether a node on its way out is silent; if its instance is gone, nothing has to be waited for.
fn is_in_doubt(world: &World) -> bool {
    let mut nodes = world.nodes.values();
    nodes.any(|node| node.meta.is_deleting() && !node.is_ready && termination::has_finalizer(node))
}
