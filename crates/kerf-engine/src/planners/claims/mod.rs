//! Claims, from the spec to the end.
//!
//! ```text
//!  creation ─► metadata ─► launch ─► registration ─► initialization ─► quiet ─► end
//!                                    (claim and node)                           │
//!                                         deletion: node gone ─► instance gone ─►┘ finalizer gone
//! ```
//!
//! Every step looks at what is stored and says what is missing, so that it does not matter how
//! often it is asked or where the process died before.

mod conclusion;
mod consistency;
mod creation;
mod deletion;
mod end;
mod health;
mod initialization;
mod launch;
mod liveness;
mod metadata;
mod metrics;
mod on_change;
mod pod_events;
mod quiet;
mod registration;
mod transitions;
mod work;

pub(super) use conclusion::conclude;
pub(super) use end::is_garbage;
pub(super) use on_change::{on_change, on_delete};

use crate::action::ActionKind;
use crate::decision::Decision;
use crate::observed::{Claim, Name};
use crate::reason::{DeletionCause, Reason};
use crate::time::Time;
use crate::world::World;
use work::Work;

/// What a claim needs now.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let Some(claim) = world.claims.get(name) else { return creation::plan(world, name) };
    if !world.is_supported(&claim.spec.node.node_class) {
        return Decision::default();
    }
    if claim.meta.is_deleting() {
        return deletion::plan(world, claim, now);
    }
    match end::cause(world, claim, now) {
        Some(cause) => end_it(claim, cause),
        None => tend(world, claim, now),
    }
}

fn end_it(claim: &Claim, cause: DeletionCause) -> Decision {
    let mut decision = Decision::default();
    let kind =
        ActionKind::DeleteClaim { name: claim.meta.name.clone(), uid: claim.meta.uid.clone() };
    decision.act(kind, Reason::Deletion(cause));
    decision
}

fn tend(world: &World, claim: &Claim, now: Time) -> Decision {
    let mut work = Work::on(world, claim, now);
    metadata::pdb(&mut work);
    metadata::hydrate(&mut work);
    launch::advance(&mut work);
    registration::advance(&mut work);
    initialization::advance(&mut work);
    pod_events::store(&mut work);
    quiet::judge(&mut work);
    consistency::judge(&mut work);
    end::wake(&mut work);
    work.finish()
}
