//! The world in serialised form: its objects as a list, from which everything derived is made anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use serde::{Deserialize, Serialize};

use super::World;
use super::tombstones::Tombstones;
use crate::event::{Kind, Object};
use crate::memory::Memory;
use crate::observed::{Name, ShiftedZone};
use crate::settings::Settings;

/// What cannot be derived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WorldState {
    settings: Settings,
    objects: Vec<Object>,
    instance_types: BTreeMap<Name, Arc<[InstanceType]>>,
    shifted: BTreeMap<Name, ShiftedZone>,
    memory: Memory,
    listed: BTreeSet<Kind>,
    tombstones: Tombstones,
}

impl From<World> for WorldState {
    fn from(world: World) -> Self {
        Self {
            objects: world.objects().collect(),
            settings: world.settings,
            instance_types: world.instance_types,
            shifted: world.shifted,
            memory: world.memory,
            listed: world.listed,
            tombstones: world.tombstones,
        }
    }
}

impl From<WorldState> for World {
    fn from(state: WorldState) -> Self {
        let mut world = World::new(state.settings);
        for object in state.objects {
            world.observe(object);
        }
        world.instance_types = state.instance_types;
        world.shifted = state.shifted;
        world.memory = state.memory;
        world.listed = state.listed;
        world.tombstones = state.tombstones;
        world
    }
}

impl World {
    /// Every object, owners first.
    fn objects(&self) -> impl Iterator<Item = Object> {
        let namespaces = self.namespaces.values().cloned().map(Object::Namespace);
        let classes = self.node_classes.values().cloned().map(Object::NodeClass);
        let pools = self.pools.values().cloned().map(Object::Pool);
        let daemon_sets = self.daemon_sets.values().cloned().map(Object::DaemonSet);
        let claims = self.claims.values().map(|claim| Object::Claim((**claim).clone()));
        let nodes = self.nodes.values().map(|node| Object::Node((**node).clone()));
        let volumes = self.attachments.values().map(|it| Object::VolumeAttachment((**it).clone()));
        let pdbs = self.pdbs.values().cloned().map(Object::PodDisruptionBudget);
        let pods = self.pods.values().map(|pod| Object::Pod((**pod).clone()));
        let small = namespaces.chain(classes).chain(pools).chain(daemon_sets);
        small.chain(claims).chain(nodes).chain(volumes).chain(pdbs).chain(pods)
    }
}
