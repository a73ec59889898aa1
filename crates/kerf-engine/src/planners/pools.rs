//! Pools: whether they are valid and ready, what they use, how healthy their launches are.

use crate::decision::Decision;
use crate::observed::Name;
use crate::time::Time;
use crate::world::World;

pub(super) fn plan(_world: &World, _name: &Name, _now: Time) -> Decision {
    Decision::default()
}
