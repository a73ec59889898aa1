//! The ground state: what was observed, what Kerf remembers, and the questions planners ask.
//!
//! One owner changes it, through [`World::observe`], [`World::forget`] and the memory; planners
//! only read.

pub(crate) mod arrival;
mod leaving;
mod node_view;
mod shifted;
mod tombstones;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::node_spec::NodeClassRef;
use rustc_hash::FxHashMap;

use crate::event::{Key, Kind, Object};
use crate::memory::Memory;
use crate::observed::{
    Claim, DaemonSet, DisruptionGuard, Name, Namespace, Node, NodeClass, Pod, PodKey, Pool,
    Revision, ShiftedZone, Standing, VolumeAttachment,
};
use crate::settings::Settings;
use tombstones::Tombstones;

/// Everything that is known.
#[derive(Clone, Debug)]
pub struct World {
    /// How to decide.
    pub settings: Settings,
    /// Pods.
    pub pods: BTreeMap<PodKey, Pod>,
    /// Nodes.
    pub nodes: BTreeMap<Name, Node>,
    /// Claims.
    pub claims: BTreeMap<Name, Claim>,
    /// Pools.
    pub pools: BTreeMap<Name, Pool>,
    /// Providers' settings objects.
    pub node_classes: BTreeMap<NodeClassRef, NodeClass>,
    /// PodDisruptionBudgets, by namespace and name.
    pub guards: BTreeMap<(Name, Name), DisruptionGuard>,
    /// Daemon sets, by namespace and name.
    pub daemon_sets: BTreeMap<(Name, Name), DaemonSet>,
    /// Namespaces.
    pub namespaces: BTreeMap<Name, Namespace>,
    /// Volumes attached to nodes.
    pub attachments: BTreeMap<Name, VolumeAttachment>,
    /// What each pool's nodes can be made of.
    pub offers: BTreeMap<Name, Arc<[InstanceType]>>,
    /// The zones the cluster is shifted away from, by name: nothing is taken away there by choice,
    /// and no call is made about machines there.
    pub shifted: BTreeMap<Name, ShiftedZone>,
    /// What Kerf remembers by itself.
    pub memory: Memory,
    listed: BTreeSet<Kind>,
    index: Index,
    tombstones: Tombstones,
}

/// Answers kept ready.
#[derive(Clone, Debug, Default)]
struct Index {
    pods_on: FxHashMap<Name, BTreeSet<PodKey>>,
    unschedulable: BTreeSet<PodKey>,
    unjudged: BTreeSet<PodKey>,
    node_by_provider_id: FxHashMap<Arc<str>, BTreeSet<Name>>,
    claim_by_provider_id: FxHashMap<Arc<str>, Name>,
    claims_of_pool: FxHashMap<Name, BTreeSet<Name>>,
    attachments_on: FxHashMap<Name, BTreeSet<Name>>,
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
            guards: BTreeMap::new(),
            daemon_sets: BTreeMap::new(),
            namespaces: BTreeMap::new(),
            attachments: BTreeMap::new(),
            offers: BTreeMap::new(),
            shifted: BTreeMap::new(),
            memory: Memory::default(),
            listed: BTreeSet::new(),
            index: Index::default(),
            tombstones: Tombstones::default(),
        }
    }

    /// Whether every kind of object has been seen once. Nothing may be decided before: what is not
    /// known yet would look like it is not there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        Kind::ALL.iter().all(|kind| self.listed.contains(kind))
    }

    /// The pods bound to a node, ended ones left out.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Pod> {
        let keys = self.index.pods_on.get(node).into_iter().flatten();
        keys.filter_map(|key| self.pods.get(key))
    }

    /// The pods that wait for a node Kerf could make.
    pub fn unschedulable_pods(&self) -> impl Iterator<Item = &Pod> {
        self.index.unschedulable.iter().filter_map(|key| self.pods.get(key))
    }

    /// The pods the scheduler has not come to yet.
    pub fn unjudged_pods(&self) -> impl Iterator<Item = &Pod> {
        self.index.unjudged.iter().filter_map(|key| self.pods.get(key))
    }

    /// The nodes that say they run on a machine; more than one is a fault.
    pub fn nodes_on_machine(&self, provider_id: &str) -> impl Iterator<Item = &Node> {
        let names = self.index.node_by_provider_id.get(provider_id).into_iter().flatten();
        names.filter_map(|name| self.nodes.get(name))
    }

    /// The claim a node belongs to: the one with the same machine.
    #[must_use]
    pub fn claim_of(&self, node: &Node) -> Option<&Claim> {
        let provider_id = node.provider_id.as_ref()?;
        self.claims.get(self.index.claim_by_provider_id.get(provider_id)?)
    }

    /// The claim whose machine this is.
    #[must_use]
    pub fn claim_on_machine(&self, provider_id: &str) -> Option<&Claim> {
        self.claims.get(self.index.claim_by_provider_id.get(provider_id)?)
    }

    /// The node of a claim, if exactly one says it runs on its machine.
    #[must_use]
    pub fn node_of(&self, claim: &Claim) -> Option<&Node> {
        let mut nodes = self.nodes_on_machine(claim.status.provider_id.as_deref()?);
        let node = nodes.next()?;
        nodes.next().is_none().then_some(node)
    }

    /// The claims that say they belong to a pool.
    pub fn claims_of(&self, pool: &str) -> impl Iterator<Item = &Claim> {
        let names = self.index.claims_of_pool.get(pool).into_iter().flatten();
        names.filter_map(|name| self.claims.get(name))
    }

    /// The volumes attached to a node.
    pub fn attachments_on(&self, node: &str) -> impl Iterator<Item = &VolumeAttachment> {
        let names = self.index.attachments_on.get(node).into_iter().flatten();
        names.filter_map(|name| self.attachments.get(name))
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
        self.index_object(&object);
        match object {
            Object::Pod(pod) => drop(self.pods.insert(pod.key.clone(), pod)),
            Object::Node(node) => drop(self.nodes.insert(node.meta.name.clone(), node)),
            Object::Claim(claim) => drop(self.claims.insert(claim.meta.name.clone(), claim)),
            Object::Pool(pool) => drop(self.pools.insert(pool.meta.name.clone(), pool)),
            Object::NodeClass(class) => drop(self.node_classes.insert(class.key.clone(), class)),
            Object::DisruptionGuard(guard) => {
                let key = (guard.namespace.clone(), guard.meta.name.clone());
                self.guards.insert(key, guard);
            }
            Object::DaemonSet(set) => {
                let key = (set.namespace.clone(), set.meta.name.clone());
                self.daemon_sets.insert(key, set);
            }
            Object::Namespace(namespace) => {
                self.namespaces.insert(namespace.meta.name.clone(), namespace);
            }
            Object::VolumeAttachment(volume) => {
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
                self.offers.remove(name);
            }
            Key::NodeClass(class) => drop(self.node_classes.remove(class)),
            Key::DisruptionGuard(namespace, name) => {
                self.guards.remove(&(namespace.clone(), name.clone()));
            }
            Key::DaemonSet(namespace, name) => {
                self.daemon_sets.remove(&(namespace.clone(), name.clone()));
            }
            Key::Namespace(name) => drop(self.namespaces.remove(name)),
            Key::VolumeAttachment(name) => drop(self.attachments.remove(name)),
        }
        true
    }

    fn revision_of(&self, key: &Key) -> Option<Revision> {
        let meta = match key {
            Key::Pod(pod) => &self.pods.get(pod)?.meta,
            Key::Node(name) => &self.nodes.get(name)?.meta,
            Key::Claim(name) => &self.claims.get(name)?.meta,
            Key::Pool(name) => &self.pools.get(name)?.meta,
            Key::NodeClass(class) => &self.node_classes.get(class)?.meta,
            Key::DisruptionGuard(namespace, name) => {
                &self.guards.get(&(namespace.clone(), name.clone()))?.meta
            }
            Key::DaemonSet(namespace, name) => {
                &self.daemon_sets.get(&(namespace.clone(), name.clone()))?.meta
            }
            Key::Namespace(name) => &self.namespaces.get(name)?.meta,
            Key::VolumeAttachment(name) => &self.attachments.get(name)?.meta,
        };
        Some(meta.revision)
    }

    fn index_object(&mut self, object: &Object) {
        let index = &mut self.index;
        match object {
            Object::Pod(pod) => match &pod.standing {
                Standing::Bound { node } => {
                    index.pods_on.entry(node.clone()).or_default().insert(pod.key.clone());
                }
                Standing::Unschedulable { .. } => {
                    index.unschedulable.insert(pod.key.clone());
                }
                Standing::Unjudged => {
                    index.unjudged.insert(pod.key.clone());
                }
                Standing::Waiting | Standing::Ended { .. } => {}
            },
            Object::Node(node) => {
                if let Some(id) = &node.provider_id {
                    let names = index.node_by_provider_id.entry(id.clone()).or_default();
                    names.insert(node.meta.name.clone());
                }
            }
            Object::Claim(claim) => {
                let name = &claim.meta.name;
                if let Some(id) = &claim.status.provider_id {
                    index.claim_by_provider_id.insert(id.clone(), name.clone());
                }
                if let Some(pool) = claim.pool() {
                    let names = index.claims_of_pool.entry(Arc::from(pool)).or_default();
                    names.insert(name.clone());
                }
            }
            Object::VolumeAttachment(volume) => {
                let names = index.attachments_on.entry(volume.node.clone()).or_default();
                names.insert(volume.meta.name.clone());
            }
            _ => {}
        }
    }

    fn unindex(&mut self, key: &Key) {
        let index = &mut self.index;
        match key {
            Key::Pod(key) => {
                index.unschedulable.remove(key);
                index.unjudged.remove(key);
                if let Some(node) = self.pods.get(key).and_then(Pod::node) {
                    remove_from(&mut index.pods_on, node, key);
                }
            }
            Key::Node(name) => {
                if let Some(id) = self.nodes.get(name).and_then(|node| node.provider_id.as_ref()) {
                    remove_from(&mut index.node_by_provider_id, id, name);
                }
            }
            Key::Claim(name) => {
                let Some(claim) = self.claims.get(name) else { return };
                if let Some(id) = &claim.status.provider_id {
                    index.claim_by_provider_id.remove(id);
                }
                if let Some(pool) = claim.pool() {
                    remove_from(&mut index.claims_of_pool, &Arc::from(pool), name);
                }
            }
            Key::VolumeAttachment(name) => {
                if let Some(volume) = self.attachments.get(name) {
                    remove_from(&mut index.attachments_on, &volume.node, name);
                }
            }
            _ => {}
        }
    }
}

fn remove_from<V: Ord>(index: &mut FxHashMap<Arc<str>, BTreeSet<V>>, key: &Arc<str>, value: &V) {
    if let Some(values) = index.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            index.remove(key);
        }
    }
}
