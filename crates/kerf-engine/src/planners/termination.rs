//! Nodes that are taken away: drained, detached, ended.

use crate::action::Action;
use crate::decision::Decision;
use crate::event::Outcome;
use crate::observed::{Name, PodKey};
use crate::time::Time;
use crate::world::World;

pub(super) fn plan(_world: &World, _name: &Name, _now: Time) -> Decision {
    Decision::default()
}

pub(super) fn plan_pod(_world: &World, _key: &PodKey, _now: Time) -> Decision {
    Decision::default()
}

pub(super) fn conclude(
    _world: &World,
    _key: &PodKey,
    _action: &Action,
    _outcome: &Outcome,
    _now: Time,
) -> Decision {
    Decision::default()
}
