//! Machines that belong to nobody: what was launched is never forgotten.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::action::Deed;
use crate::decision::Decision;
use crate::event::Machine;
use crate::memory::Memo;
use crate::world::World;

/// Ends machines that belonged to nobody in two lists in a row. One list is not enough: a claim
/// stored by another process a moment ago may not have been seen yet.
pub(super) fn judge(world: &World, machines: &[Arc<Machine>]) -> Decision {
    let mut decision = Decision::default();
    let mut strangers: BTreeSet<Arc<str>> = BTreeSet::new();
    for machine in machines.iter().filter(|machine| is_stranger(world, machine)) {
        let id = &machine.provider_id;
        strangers.insert(id.clone());
        let is_within_reach = world.shifted_zone(&machine.labels).is_none();
        if world.memory.strangers.contains(id) && !machine.is_ending && is_within_reach {
            let claim = machine.claim.clone().unwrap_or_else(|| id.clone());
            let deed = Deed::Terminate { claim, provider_id: Some(id.clone()) };
            decision.act(deed, "no claim has this machine");
        }
    }
    decision.remember(Memo::Strangers(strangers));
    decision
}

/// A machine is launched for a stored claim only. If that claim is gone, or has another machine,
/// nobody will ever ask for this one.
fn is_stranger(world: &World, machine: &Machine) -> bool {
    let id = &machine.provider_id;
    let is_remembered = world.memory.launched.values().any(|known| known.provider_id == *id);
    if is_remembered || world.claim_on_machine(id).is_some() {
        return false;
    }
    match &machine.claim {
        Some(claim) => {
            world.claims.get(claim).is_none_or(|claim| claim.status.provider_id.is_some())
        }
        // It could be anybody's whose launch was not heard of.
        None => world.claims.values().all(|claim| claim.status.provider_id.is_some()),
    }
}
