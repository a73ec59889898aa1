//! Zonal shifts: the zones to be avoided, and what that means here.
//!
//! In offering mode the provider offers nothing in a shifted zone, and [Events](offering_mode) on
//! pools say so; in NodePool mode [pools are edited](node_pool_mode) so that they make no nodes
//! there.

mod node_pool_mode;
mod observation;
mod offering_mode;
mod pool_edits;

use crate::action::Action;
use crate::decision::Decision;
use crate::event::Outcome;
use crate::time::Time;
use crate::world::World;
pub(crate) use node_pool_mode::unix_seconds;
pub(crate) use observation::active_shifts;
pub(super) use observation::{on_change, on_delete};

/// What both modes need now.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = offering_mode::plan(world, now);
    if let Some(settings) = &world.settings.zonal_shift {
        decision.and(node_pool_mode::plan(world, settings, now));
    }
    decision
}

/// What to make of a finished action.
pub(super) fn conclude(world: &World, action: &Action, outcome: &Outcome, now: Time) -> Decision {
    match &world.settings.zonal_shift {
        Some(_) => node_pool_mode::conclude(world, action, outcome, now),
        None => Decision::default(),
    }
}
