//! Instances that belong to nobody: what was launched is never forgotten.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::action::ActionKind;
use crate::decision::Decision;
use crate::event::Instance;
use crate::memory::Update;
use crate::reason::Reason;
use crate::world::World;

/// Ends instances that belonged to nobody in two lists in a row. One list is not enough: a claim
/// stored by another process a moment ago may not have been seen yet.
pub(super) fn judge(world: &World, instances: &[Arc<Instance>]) -> Decision {
    let mut decision = Decision::default();
    let mut orphans: BTreeSet<Arc<str>> = BTreeSet::new();
    for instance in instances.iter().filter(|instance| is_orphan(world, instance)) {
        let id = &instance.provider_id;
        orphans.insert(id.clone());
        let is_within_reach = world.shifted_zone(&instance.labels).is_none();
        if world.memory.orphans.contains(id) && !instance.is_ending && is_within_reach {
            let claim = instance.claim.clone().unwrap_or_else(|| id.clone());
            let kind = ActionKind::Terminate { claim, provider_id: Some(id.clone()) };
            decision.act(kind, Reason::InstanceOrphaned);
        }
    }
    decision.remember(Update::Orphans(orphans));
    decision
}

/// An instance is launched for a stored claim only. If that claim is gone, or has another instance,
/// nobody will ever ask for this one.
fn is_orphan(world: &World, instance: &Instance) -> bool {
    let id = &instance.provider_id;
    let is_remembered = world.memory.launched.values().any(|known| known.provider_id == *id);
    if is_remembered || world.claim_of_instance(id).is_some() {
        return false;
    }
    match &instance.claim {
        Some(claim) => {
            world.claims.get(claim).is_none_or(|claim| claim.status.provider_id.is_some())
        }
        // It could be anybody's whose launch was not heard of.
        None => world.claims.values().all(|claim| claim.status.provider_id.is_some()),
    }
}
