//! Claims, from the wish to the end.

use crate::action::Action;
use crate::decision::Decision;
use crate::event::{Key, Object, Outcome};
use crate::observed::Name;
use crate::time::Time;
use crate::world::World;

pub(super) fn plan(_world: &World, _name: &Name, _now: Time) -> Decision {
    Decision::default()
}

pub(super) fn notice(_world: &World, _object: &Object, _now: Time) -> Decision {
    Decision::default()
}

pub(super) fn notice_gone(_world: &World, _key: &Key, _now: Time) -> Decision {
    Decision::default()
}

pub(super) fn conclude(
    _world: &World,
    _name: &Name,
    _action: &Action,
    _outcome: &Outcome,
    _now: Time,
) -> Decision {
    Decision::default()
}
