//! Comparing claims with the cloud's machines, both ways.

mod strangers;

use std::collections::BTreeMap;

use super::{claims, termination};
use crate::action::{Action, Deed};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::{MachineList, Memo};
use crate::time::{Span, Time};
use crate::world::World;

/// How often the cloud's machines are listed.
const EVERY: Span = Span::from_minutes(2);
/// And while a node that does not answer is waited for.
const EVERY_IN_DOUBT: Span = Span::from_seconds(15);

/// Lists the machines when it is time, and gives up claims whose machine is gone.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    let listed_at = world.memory.machines.as_ref().map(|list| list.at);
    let every = if is_in_doubt(world) { EVERY_IN_DOUBT } else { EVERY };
    match listed_at.map(|at| at + every) {
        Some(due) if now < due => decision.wake(due),
        _ => decision.act(Deed::ListMachines, "claims and machines are compared"),
    }
    let claims = world.claims.values().filter(|claim| !claim.meta.is_deleting());
    for claim in claims.filter(|claim| claims::is_garbage(world, claim)) {
        let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
        decision.act(Deed::DeleteClaim { name, uid }, "the cloud no longer has the machine");
    }
    decision
}

/// What to make of a list of machines. It is as old as the question: what came since is not in it.
pub(super) fn conclude(world: &World, action: &Action, outcome: &Outcome) -> Decision {
    let Outcome::Machines(machines) = outcome else { return Decision::default() };
    let mut decision = strangers::judge(world, machines);
    let machines: BTreeMap<_, _> =
        machines.iter().map(|machine| (machine.provider_id.clone(), machine.clone())).collect();
    decision.remember(Memo::Machines(MachineList { at: action.at, machines }));
    decision
}

/// Whether a node on its way out is silent; if its machine is gone, nothing has to be waited for.
fn is_in_doubt(world: &World) -> bool {
    let mut nodes = world.nodes.values();
    nodes.any(|node| node.meta.is_deleting() && !node.is_ready && termination::is_guarded(node))
}
