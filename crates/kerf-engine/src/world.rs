//! The ground state: what was observed, what Kerf remembers, and the lookups planners need.
//!
//! One owner changes it, through [`World::observe`], [`World::forget`] and the memory; planners
//! only read.

pub(crate) mod arrival;
mod freshness;
pub(crate) mod instance_types;
pub(crate) mod leaving;
mod node_entries;
pub(crate) mod node_entry;
mod node_view;
mod pool_tally;
mod shifted;
mod state;
mod tombstones;
mod unreadable;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::observed::{Key, Kind, Name, Object, Objects, Revision, ShiftedZone};
use crate::settings::Settings;
use crate::time::Time;
use crate::zonal_shift::NodePoolMode;
use freshness::Hearings;
pub use freshness::STALE_AFTER;
use instance_types::Offered;
use node_entries::NodeEntries;
use state::WorldState;
use tombstones::Tombstones;

/// Everything that is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "WorldState", from = "WorldState")]
pub struct World {
    /// How to decide.
    pub settings: Settings,
    /// What each pool's nodes can be made of: what was offered, without the zones the cluster is
    /// shifted away from, and as NodeOverlays change it.
    pub instance_types: BTreeMap<Name, Arc<[InstanceType]>>,
    /// The zones the cluster is shifted away from, by name: nothing is taken away there by choice,
    /// and no call is made about instances there.
    pub shifted: BTreeMap<Name, ShiftedZone>,
    /// What NodePool mode of zonal shifts knows.
    pub zonal_shift: NodePoolMode,
    /// What Kerf remembers by itself.
    pub memory: Memory,
    objects: Objects,
    listed: BTreeSet<Kind>,
    hearings: Hearings,
    node_entries: NodeEntries,
    offered: Offered,
    tombstones: Tombstones,
    unreadable: BTreeMap<Key, Revision>,
}

impl World {
    /// An empty world.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            instance_types: BTreeMap::new(),
            shifted: BTreeMap::new(),
            zonal_shift: NodePoolMode::default(),
            memory: Memory::default(),
            objects: Objects::default(),
            listed: BTreeSet::new(),
            hearings: Hearings::new(),
            node_entries: NodeEntries::default(),
            offered: Offered::default(),
            tombstones: Tombstones::default(),
            unreadable: BTreeMap::new(),
        }
    }

    /// Whether every kind of object the role reads has been listed once. Nothing may be decided
    /// before: what is not known yet would look like it is not there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.settings.required_kinds().all(|kind| self.listed.contains(&kind))
    }

    /// Whether all objects of these kinds have been listed once.
    #[must_use]
    pub fn has_listed(&self, kinds: &[Kind]) -> bool {
        kinds.iter().all(|kind| self.listed.contains(kind))
    }

    /// Whether a claim, pool or node class of this kind is Kerf's business.
    #[must_use]
    pub fn is_supported(&self, class: &NodeClassRef) -> bool {
        self.settings.provider.node_class_kind(&class.group, &class.kind).is_some()
    }

    /// Notes that all objects of a kind have been listed. Returns whether the kind was stale before.
    pub(crate) fn list(&mut self, kind: Kind, now: Time) -> bool {
        self.listed.insert(kind);
        self.hear(kind, now)
    }

    /// Takes in an object as it is stored, unless something newer is known. Returns whether it
    /// changed the world.
    pub(crate) fn observe(&mut self, object: Object) -> bool {
        let key = object.key();
        let known = self.revision_of(&key).or_else(|| self.tombstones.revision_of(&key));
        if known.is_some_and(|known| known > object.meta().revision) {
            return false;
        }
        self.unreadable.remove(&key);
        self.objects.insert(object);
        self.note_offer_dependency(&key);
        true
    }

    /// Takes in that an object is gone, unless something newer is known. Returns whether it
    /// changed the world.
    pub(crate) fn forget(&mut self, key: &Key, revision: Revision) -> bool {
        let known = self.revision_of(key);
        if known.is_some_and(|known| known > revision) {
            return false;
        }
        let was_unreadable = self.unreadable.remove(key).is_some();
        // Noted even if it was never seen: watch events of its life may still be on the way.
        self.tombstones.add(key.clone(), revision);
        if let Key::Pool(name) = key {
            self.withdraw_offer(name);
        }
        self.note_offer_dependency(key);
        self.objects.remove(key) || was_unreadable
    }

    /// The version an object had when it went, as long as that is remembered: what is older is not
    /// taken in any more.
    #[must_use]
    pub fn gone_at(&self, key: &Key) -> Option<Revision> {
        self.tombstones.revision_of(key)
    }

    fn revision_of(&self, key: &Key) -> Option<Revision> {
        self.objects.meta(key).map(|meta| meta.revision)
    }
}

/// The world's objects are asked for as if they were its own fields: `world.pods`.
impl Deref for World {
    type Target = Objects;

    fn deref(&self) -> &Objects {
        &self.objects
    }
}
