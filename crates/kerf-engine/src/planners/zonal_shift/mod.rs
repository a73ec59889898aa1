//! Zonal shifts: the zones to be avoided, and what that means here.
//!
//! In offering mode the provider offers nothing in a shifted zone, and [pools are told](offering_mode);
//! in NodePool mode [pools are edited](node_pool_mode) so that they make no nodes there.

mod node_pool_mode;
mod offering_mode;
mod pool_edits;

use crate::decision::Decision;
use crate::event::Outcome;
use crate::time::Time;
use crate::world::World;
use crate::zonal_shift::ShiftCall;
pub(crate) use node_pool_mode::unix_seconds;

/// What both modes need now.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = offering_mode::plan(world, now);
    if let Some(settings) = &world.settings.zonal_shift {
        decision.and(node_pool_mode::plan(world, settings, now));
    }
    decision
}

/// What to make of a finished call.
pub(super) fn conclude(world: &World, call: &ShiftCall, outcome: &Outcome, now: Time) -> Decision {
    node_pool_mode::conclude(world, call, outcome, now)
}
