//! Finding places for pods.

use crate::action::Action;
use crate::decision::Decision;
use crate::event::Outcome;
use crate::time::Time;
use crate::world::World;

pub(super) fn plan(_world: &World, _now: Time) -> Decision {
    Decision::default()
}

pub(super) fn conclude(
    _world: &World,
    _action: &Action,
    _outcome: &Outcome,
    _now: Time,
) -> Decision {
    Decision::default()
}
