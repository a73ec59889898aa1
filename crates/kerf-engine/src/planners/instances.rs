//! Comparing claims with the cloud's instances, both ways: claims whose instance is gone are deleted,
//! instances that belong to nobody are terminated. What was launched is never forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::termination;
use crate::action::{Action, ActionKind};
use crate::decision::Decision;
use crate::event::{Instance, Kind, Object, Outcome};
use crate::memory::{InstanceList, Update};
use crate::observed::Name;
use crate::reason::Reason;
use crate::time::{Span, Time};
use crate::world::World;

/// How often the cloud's instances are listed.
const EVERY: Span = Span::from_minutes(2);
/// And while a node that does not answer is waited for.
const EVERY_IN_DOUBT: Span = Span::from_seconds(15);

/// Lists the instances when it is time. Claims whose instance is not among them are looked at then,
/// and give themselves up.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    let listed_at = world.memory.instances.as_ref().map(|list| list.at);
    let every = if is_in_doubt(world) { EVERY_IN_DOUBT } else { EVERY };
    match listed_at.map(|at| at + every) {
        Some(due) if now < due => decision.wake(due),
        _ => decision.act(ActionKind::ListInstances, Reason::InstanceComparison),
    }
    decision
}

/// What to make of a list of instances, and of what the API server said of one that seems to be
/// nobody's. A list is as old as the request: what came since is not in it.
pub(super) fn conclude(world: &World, action: &Action, outcome: &Outcome, now: Time) -> Decision {
    match (&action.kind, outcome) {
        (ActionKind::ListInstances, Outcome::Instances(instances)) => {
            let mut decision = look_for_owners(world, instances, now);
            let by_id = |it: &Arc<Instance>| (it.provider_id.clone(), it.clone());
            let instances: BTreeMap<_, _> = instances.iter().map(by_id).collect();
            decision.remember(Update::Instances(InstanceList { at: action.at, instances }));
            decision
        }
        (ActionKind::ConfirmOrphan { claim, instance }, Outcome::NotFound) => {
            terminate_orphan(world, claim.as_ref(), instance, now)
        }
        (ActionKind::ConfirmOrphan { claim, instance }, Outcome::Stored(found))
            if !may_own(found, instance) =>
        {
            terminate_orphan(world, claim.as_ref(), instance, now)
        }
        _ => Decision::default(),
    }
}

/// Whether a node on its way out is silent; if its instance is gone, nothing has to be waited for.
fn is_in_doubt(world: &World) -> bool {
    let mut nodes = world.departing_nodes();
    nodes.any(|node| node.meta.is_deleting() && !node.is_ready && termination::has_finalizer(node))
}

/// Asks the API server about instances that belonged to nobody in two lists in a row. One list is
/// not enough: a claim stored by another process a moment ago may not have been seen yet.
fn look_for_owners(world: &World, instances: &[Arc<Instance>], now: Time) -> Decision {
    let mut decision = Decision::default();
    let mut orphans: BTreeSet<Arc<str>> = BTreeSet::new();
    let remembered = remembered(world);
    for instance in instances.iter().filter(|it| is_orphan(world, it, &remembered)) {
        let id = &instance.provider_id;
        orphans.insert(id.clone());
        if world.memory.orphans.contains(id) && may_end(world, instance, now) {
            let (claim, instance) = (instance.claim.clone(), instance.clone());
            let kind = ActionKind::ConfirmOrphan { claim, instance };
            decision.act(kind, Reason::AbsenceUnconfirmed);
        }
    }
    decision.remember(Update::Orphans(orphans));
    decision
}

/// Whether the claim that the API server has may be the owner of an instance: it has this one, or
/// none that is stored.
fn may_own(found: &Object, instance: &Instance) -> bool {
    let Object::Claim(claim) = found else { return true };
    claim.status.provider_id.as_ref().is_none_or(|id| *id == instance.provider_id)
}

/// The API server was asked and has no owner either: what is nobody's ends.
fn terminate_orphan(
    world: &World,
    claim: Option<&Name>,
    instance: &Instance,
    now: Time,
) -> Decision {
    let mut decision = Decision::default();
    if is_orphan(world, instance, &remembered(world)) && may_end(world, instance, now) {
        let id = &instance.provider_id;
        let claim = claim.unwrap_or(id).clone();
        let kind = ActionKind::Terminate { claim, provider_id: Some(id.clone()) };
        decision.act(kind, Reason::InstanceOrphaned);
    }
    decision
}

/// Whether nothing speaks against the end of an instance that seems to be nobody's now.
fn may_end(world: &World, instance: &Instance, now: Time) -> bool {
    let is_within_reach = world.shifted_zone(&instance.labels).is_none();
    !instance.is_ending && is_within_reach && world.is_fresh(&[Kind::Claim], now)
}

/// An instance is launched for a stored claim only. If that claim is gone, or has another instance,
/// nobody will ever ask for this one.
fn is_orphan(world: &World, instance: &Instance, remembered: &BTreeSet<&str>) -> bool {
    let id = &instance.provider_id;
    if remembered.contains(&**id) || world.claim_of_instance(id).is_some() {
        return false;
    }
    if world.may_be_of_unreadable_claim(instance.claim.as_ref()) {
        return false;
    }
    match &instance.claim {
        Some(claim) => {
            world.claims.get(claim).is_none_or(|claim| claim.status.provider_id.is_some())
        }
        // It could be anybody's whose launch was not heard of.
        None => world.claims_without_node().all(|claim| claim.status.provider_id.is_some()),
    }
}

/// The instances whose launch is not stored yet.
fn remembered(world: &World) -> BTreeSet<&str> {
    world.memory.launched.values().map(|instance| &*instance.provider_id).collect()
}
