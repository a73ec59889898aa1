//! The world in serialised form: its objects as a list, from which everything derived is made anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use serde::{Deserialize, Serialize};

use super::World;
use super::freshness::Hearings;
use super::tombstones::Tombstones;
use crate::event::{Key, Kind, Object};
use crate::memory::Memory;
use crate::observed::{Name, Revision, ShiftedZone};
use crate::settings::Settings;
use crate::time::Time;
use crate::zonal_shift::NodePoolMode;

/// What cannot be derived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WorldState {
    settings: Settings,
    objects: Vec<Object>,
    offers: BTreeMap<Name, Arc<[InstanceType]>>,
    #[serde(default)]
    offer_times: BTreeMap<Name, Time>,
    shifted: BTreeMap<Name, ShiftedZone>,
    zonal_shift: NodePoolMode,
    memory: Memory,
    listed: BTreeSet<Kind>,
    #[serde(default)]
    hearings: Hearings,
    tombstones: Tombstones,
    #[serde(default)]
    unreadable: Vec<(Key, Revision)>,
}

impl From<World> for WorldState {
    fn from(world: World) -> Self {
        Self {
            offers: world.offers(),
            offer_times: world.offer_times(),
            objects: Kind::ALL.iter().flat_map(|kind| world.objects.list(*kind)).collect(),
            settings: world.settings,
            shifted: world.shifted,
            zonal_shift: world.zonal_shift,
            memory: world.memory,
            listed: world.listed,
            hearings: world.hearings,
            tombstones: world.tombstones,
            unreadable: world.unreadable.into_iter().collect(),
        }
    }
}

impl From<WorldState> for World {
    fn from(state: WorldState) -> Self {
        let mut world = World::new(state.settings);
        for object in state.objects {
            world.observe(object);
        }
        world.shifted = state.shifted;
        world.zonal_shift = state.zonal_shift;
        for (pool, instance_types) in state.offers {
            let at = state.offer_times.get(&pool).copied().unwrap_or_default();
            world.offer(pool, instance_types, at);
        }
        world.refresh_instance_types();
        world.memory = state.memory;
        world.listed = state.listed;
        world.hearings = state.hearings;
        world.tombstones = state.tombstones;
        world.unreadable = state.unreadable.into_iter().collect();
        world
    }
}
