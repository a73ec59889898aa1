//! The ground state: what was observed, what Kerf remembers, and the questions planners ask.
//!
//! One owner changes it, through [`World::observe`], [`World::forget`] and the memory; planners
//! only read.

pub(crate) mod arrival;
mod index;
mod leaving;
pub(crate) mod node_entry;
mod node_view;
mod shifted;
mod state;
mod tombstones;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use crate::event::{Key, Kind, Object};
use crate::memory::Memory;
use crate::observed::{
    Claim, DaemonSet, Name, Namespace, Node, NodeClass, Pod, PodDisruptionBudget, PodKey, Pool,
    Revision, ShiftedZone, VolumeAttachment,
};
use crate::settings::Settings;
use crate::zonal_shift::NodePoolMode;
use index::Index;
use node_entry::NodeEntry;
use state::WorldState;
use tombstones::Tombstones;

/// Everything that is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "WorldState", from = "WorldState")]
pub struct World {
    /// How to decide.
    pub settings: Settings,
    /// Pods.
    pub pods: BTreeMap<PodKey, Arc<Pod>>,
    /// Nodes.
    pub nodes: BTreeMap<Name, Arc<Node>>,
    /// Claims.
    pub claims: BTreeMap<Name, Arc<Claim>>,
    /// Pools.
    pub pools: BTreeMap<Name, Pool>,
    /// Providers' settings objects.
    pub node_classes: BTreeMap<NodeClassRef, NodeClass>,
    /// PodDisruptionBudgets, by namespace and name.
    pub pdbs: BTreeMap<(Name, Name), PodDisruptionBudget>,
    /// Daemon sets, by namespace and name.
    pub daemon_sets: BTreeMap<(Name, Name), DaemonSet>,
    /// Namespaces.
    pub namespaces: BTreeMap<Name, Namespace>,
    /// Volumes attached to nodes.
    pub attachments: BTreeMap<Name, Arc<VolumeAttachment>>,
    /// What each pool's nodes can be made of.
    pub instance_types: BTreeMap<Name, Arc<[InstanceType]>>,
    /// The zones the cluster is shifted away from, by name: nothing is taken away there by choice,
    /// and no call is made about instances there.
    pub shifted: BTreeMap<Name, ShiftedZone>,
    /// What NodePool mode of zonal shifts knows.
    pub zonal_shift: NodePoolMode,
    /// What Kerf remembers by itself.
    pub memory: Memory,
    listed: BTreeSet<Kind>,
    index: Index,
    node_entries: BTreeMap<Name, NodeEntry>,
    tombstones: Tombstones,
}

impl World {
    /// An empty world.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            pods: BTreeMap::new(),
            nodes: BTreeMap::new(),
            claims: BTreeMap::new(),
            pools: BTreeMap::new(),
            node_classes: BTreeMap::new(),
            pdbs: BTreeMap::new(),
            daemon_sets: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            attachments: BTreeMap::new(),
            instance_types: BTreeMap::new(),
            shifted: BTreeMap::new(),
            zonal_shift: NodePoolMode::default(),
            memory: Memory::default(),
            listed: BTreeSet::new(),
            index: Index::default(),
            node_entries: BTreeMap::new(),
            tombstones: Tombstones::default(),
        }
    }

    /// Whether every kind of object the role reads has been listed once. Nothing may be decided
    /// before: what is not known yet would look like it is not there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.settings.role.kinds().iter().all(|kind| self.listed.contains(kind))
    }

    /// Whether a claim, pool or node class of this kind is Kerf's business.
    #[must_use]
    pub fn is_supported(&self, class: &NodeClassRef) -> bool {
        let kinds = &self.settings.node_class_kinds;
        kinds.iter().any(|(group, kind)| *group == class.group && *kind == class.kind)
    }

    /// Notes that all objects of a kind have been seen once.
    pub(crate) fn list(&mut self, kind: Kind) {
        self.listed.insert(kind);
    }

    /// Takes in an object as it is stored, unless something newer is known. Returns whether it was
    /// news.
    pub(crate) fn observe(&mut self, object: Object) -> bool {
        let key = object.key();
        let known = self.revision_of(&key).or_else(|| self.tombstones.revision_of(&key));
        if known.is_some_and(|known| known > object.meta().revision) {
            return false;
        }
        self.unindex(&key);
        match object {
            Object::Pod(pod) => {
                let pod = Arc::new(pod);
                self.index.add_pod(&pod);
                self.pods.insert(pod.key.clone(), pod);
            }
            Object::Node(node) => {
                let node = Arc::new(node);
                self.index.add_node(&node);
                self.nodes.insert(node.meta.name.clone(), node);
            }
            Object::Claim(claim) => {
                let claim = Arc::new(claim);
                self.index.add_claim(&claim);
                self.claims.insert(claim.meta.name.clone(), claim);
            }
            Object::Pool(pool) => drop(self.pools.insert(pool.meta.name.clone(), pool)),
            Object::NodeClass(class) => drop(self.node_classes.insert(class.key.clone(), class)),
            Object::PodDisruptionBudget(pdb) => {
                let key = (pdb.namespace.clone(), pdb.meta.name.clone());
                self.pdbs.insert(key, pdb);
            }
            Object::DaemonSet(set) => {
                let key = (set.namespace.clone(), set.meta.name.clone());
                self.daemon_sets.insert(key, set);
            }
            Object::Namespace(namespace) => {
                self.namespaces.insert(namespace.meta.name.clone(), namespace);
            }
            Object::VolumeAttachment(volume) => {
                let volume = Arc::new(volume);
                self.index.add_attachment(&volume);
                self.attachments.insert(volume.meta.name.clone(), volume);
            }
        }
        true
    }

    /// Takes in that an object is gone, unless something newer is known. Returns whether it was
    /// news.
    pub(crate) fn forget(&mut self, key: &Key, revision: Revision) -> bool {
        let known = self.revision_of(key);
        if known.is_some_and(|known| known > revision) {
            return false;
        }
        // Noted even if it was never seen: news of its life may still be on the way.
        self.tombstones.add(key.clone(), revision);
        if known.is_none() {
            return false;
        }
        self.unindex(key);
        match key {
            Key::Pod(pod) => drop(self.pods.remove(pod)),
            Key::Node(name) => drop(self.nodes.remove(name)),
            Key::Claim(name) => drop(self.claims.remove(name)),
            Key::Pool(name) => {
                self.pools.remove(name);
                self.instance_types.remove(name);
            }
            Key::NodeClass(class) => drop(self.node_classes.remove(class)),
            Key::PodDisruptionBudget(namespace, name) => {
                self.pdbs.remove(&(namespace.clone(), name.clone()));
            }
            Key::DaemonSet(namespace, name) => {
                self.daemon_sets.remove(&(namespace.clone(), name.clone()));
            }
            Key::Namespace(name) => drop(self.namespaces.remove(name)),
            Key::VolumeAttachment(name) => drop(self.attachments.remove(name)),
        }
        true
    }

    fn unindex(&mut self, key: &Key) {
        match key {
            Key::Pod(key) => self.pods.get(key).map(|pod| self.index.remove_pod(pod)),
            Key::Node(name) => self.nodes.get(name).map(|node| self.index.remove_node(node)),
            Key::Claim(name) => self.claims.get(name).map(|claim| self.index.remove_claim(claim)),
            Key::VolumeAttachment(name) => {
                self.attachments.get(name).map(|volume| self.index.remove_attachment(volume))
            }
            _ => None,
        };
    }

    fn revision_of(&self, key: &Key) -> Option<Revision> {
        let meta = match key {
            Key::Pod(pod) => &self.pods.get(pod)?.meta,
            Key::Node(name) => &self.nodes.get(name)?.meta,
            Key::Claim(name) => &self.claims.get(name)?.meta,
            Key::Pool(name) => &self.pools.get(name)?.meta,
            Key::NodeClass(class) => &self.node_classes.get(class)?.meta,
            Key::PodDisruptionBudget(namespace, name) => {
                &self.pdbs.get(&(namespace.clone(), name.clone()))?.meta
            }
            Key::DaemonSet(namespace, name) => {
                &self.daemon_sets.get(&(namespace.clone(), name.clone()))?.meta
            }
            Key::Namespace(name) => &self.namespaces.get(name)?.meta,
            Key::VolumeAttachment(name) => &self.attachments.get(name)?.meta,
        };
        Some(meta.revision)
    }
}
