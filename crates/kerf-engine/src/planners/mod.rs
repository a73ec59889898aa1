//! The planners: plain functions from the world and the time to decisions.
//!
//! Each subject has one planner ([`plan`]). [`on_change`] and [`on_delete`] say what to remember
//! when an object changes, while the former state is still known; [`conclude`] what to make of a
//! finished action. None of them can fail, wait, or change the world.

mod claims;
pub(crate) mod disruption;
mod instances;
mod notices;
mod pools;
mod provisioning;
pub(crate) mod termination;
mod zonal_shift;

pub use provisioning::{DryRun, dry_run};

use crate::action::{Action, Subject};
use crate::decision::Decision;
use crate::event::{Key, Object, Outcome};
use crate::observed::Name;
use crate::time::Time;
use crate::world::World;

/// What a subject needs now.
pub(crate) fn plan(world: &World, subject: &Subject, now: Time) -> Decision {
    match subject {
        Subject::Claim(name) => claims::plan(world, name, now),
        Subject::Node(name) => termination::plan(world, name, now),
        Subject::Pod(key) => termination::plan_pod(world, key, now),
        Subject::Pool(name) => pools::plan(world, name, now),
        Subject::Provisioning => provisioning::plan(world, now),
        Subject::Disruption => disruption::plan(world, now),
        Subject::Instances => instances::plan(world, now),
        Subject::ZonalShift => zonal_shift::plan(world, now),
        Subject::Notices => notices::plan(world, now),
    }
}

/// What to remember when an object is about to become this.
pub(crate) fn on_change(world: &World, object: &Object, now: Time) -> Decision {
    let mut decision = claims::on_change(world, object, now);
    decision.and(provisioning::on_change(world, object, now));
    decision
}

/// What to remember when an object is about to be gone.
pub(crate) fn on_delete(world: &World, key: &Key, now: Time) -> Decision {
    // Who counted on a claim is asked before it is forgotten.
    let mut decision = provisioning::on_delete(world, key, now);
    decision.and(claims::on_delete(world, key, now));
    decision
}

/// What to remember when a pool's instances are about to become known.
pub(crate) fn on_instance_types(world: &World, pool: &Name, now: Time) -> Decision {
    provisioning::on_instance_types(world, pool, now)
}

/// What to make of a finished action.
pub(crate) fn conclude(world: &World, action: &Action, outcome: &Outcome, now: Time) -> Decision {
    match action.kind.subject() {
        Subject::Claim(name) => {
            let mut decision = claims::conclude(world, &name, action, outcome, now);
            decision.and(disruption::conclude(world, action, outcome));
            decision
        }
        Subject::Pod(key) => termination::conclude(world, &key, action, outcome),
        Subject::Provisioning => provisioning::conclude(world, action, outcome, now),
        Subject::Instances => instances::conclude(world, action, outcome),
        Subject::Node(_)
        | Subject::Pool(_)
        | Subject::Disruption
        | Subject::ZonalShift
        | Subject::Notices => Decision::default(),
    }
}
