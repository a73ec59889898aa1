//! The API server: objects with revisions, finalizers, preconditions and watches.
//!
//! Every write gives the object a new revision and is noted in the [`Journal`] for watches, and in
//! the list of [touched](Store::take_touched) objects for the controllers of the cluster itself.

mod journal;
mod write;

pub(crate) use journal::{Journal, KINDS, index as kind_index};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::observed::{
    Claim, DaemonSet, Meta, Name, Namespace, Node, NodeClass, Pod, PodDisruptionBudget, PodKey,
    Pool, Revision, VolumeAttachment,
};
use kerf_engine::time::Time;
use kerf_model::node_spec::NodeClassRef;
use rustc_hash::FxHashMap;

/// All objects.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Pods.
    pub pods: BTreeMap<PodKey, Pod>,
    /// Nodes.
    pub nodes: BTreeMap<Name, Node>,
    /// Claims.
    pub claims: BTreeMap<Name, Claim>,
    /// Pools.
    pub pools: BTreeMap<Name, Pool>,
    /// Node classes.
    pub node_classes: BTreeMap<NodeClassRef, NodeClass>,
    /// PodDisruptionBudgets, by namespace and name.
    pub pdbs: BTreeMap<(Name, Name), PodDisruptionBudget>,
    /// Daemon sets, by namespace and name.
    pub daemon_sets: BTreeMap<(Name, Name), DaemonSet>,
    /// Namespaces.
    pub namespaces: BTreeMap<Name, Namespace>,
    /// Volumes attached to nodes.
    pub attachments: BTreeMap<Name, VolumeAttachment>,
    pub(crate) now: Time,
    pub(crate) journal: Journal,
    revision: u64,
    uids: u64,
    touched: Vec<Key>,
    pods_on: FxHashMap<Name, BTreeSet<PodKey>>,
    claim_of_instance: FxHashMap<Arc<str>, Name>,
}

impl Store {
    /// The identity, revision and times of a new object.
    pub(crate) fn new_meta(&mut self, name: Name) -> Meta {
        self.uids += 1;
        Meta {
            name,
            uid: Arc::from(format!("uid-{:06}", self.uids)),
            revision: Revision(self.revision),
            generation: 1,
            // The API server keeps whole seconds.
            created_at: Time::from_seconds(self.now.seconds()),
            deleting_since: None,
        }
    }

    /// Stores an object as it is, under a new revision.
    pub(crate) fn put(&mut self, mut object: Object) {
        self.revision += 1;
        let revision = Revision(self.revision);
        let key = object.key();
        object.meta_mut().revision = revision;
        self.touched.push(key);
        self.journal.seen(object.clone());
        match object {
            Object::Pod(pod) => {
                if let Some(known) = self.pods.get(&pod.key)
                    && known.node() != pod.node()
                    && let Some(node) = known.node()
                {
                    self.leave(&node.clone(), &pod.key);
                }
                if let Some(node) = pod.node() {
                    self.pods_on.entry(node.clone()).or_default().insert(pod.key.clone());
                }
                self.pods.insert(pod.key.clone(), pod);
            }
            Object::Node(node) => drop(self.nodes.insert(node.meta.name.clone(), node)),
            Object::Claim(claim) => {
                if let Some(id) = &claim.status.provider_id {
                    self.claim_of_instance.insert(id.clone(), claim.meta.name.clone());
                }
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
                self.attachments.insert(volume.meta.name.clone(), volume);
            }
        }
    }

    /// Takes an object out for good.
    pub(crate) fn remove(&mut self, key: Key) {
        let (existed, kind) = match &key {
            Key::Pod(pod) => {
                if let Some(node) = self.pods.get(pod).and_then(|pod| pod.node().cloned()) {
                    self.leave(&node, pod);
                }
                (self.pods.remove(pod).is_some(), Kind::Pod)
            }
            Key::Node(name) => (self.nodes.remove(name).is_some(), Kind::Node),
            Key::Claim(name) => {
                let claim = self.claims.remove(name);
                if let Some(id) = claim.as_ref().and_then(|it| it.status.provider_id.as_ref()) {
                    self.claim_of_instance.remove(id);
                }
                (claim.is_some(), Kind::Claim)
            }
            Key::Pool(name) => (self.pools.remove(name).is_some(), Kind::Pool),
            Key::NodeClass(class) => (self.node_classes.remove(class).is_some(), Kind::NodeClass),
            Key::PodDisruptionBudget(namespace, name) => {
                let key = (namespace.clone(), name.clone());
                (self.pdbs.remove(&key).is_some(), Kind::PodDisruptionBudget)
            }
            Key::DaemonSet(namespace, name) => {
                let key = (namespace.clone(), name.clone());
                (self.daemon_sets.remove(&key).is_some(), Kind::DaemonSet)
            }
            Key::Namespace(name) => (self.namespaces.remove(name).is_some(), Kind::Namespace),
            Key::VolumeAttachment(name) => {
                (self.attachments.remove(name).is_some(), Kind::VolumeAttachment)
            }
        };
        if existed {
            self.revision += 1;
            self.touched.push(key.clone());
            self.journal.gone(kind, key, Revision(self.revision));
        }
    }

    /// The pods bound to a node that have not ended.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Pod> {
        let keys = self.pods_on.get(node).into_iter().flatten();
        keys.filter_map(|key| self.pods.get(key))
    }

    /// The claim a node belongs to: the one with the same instance.
    #[must_use]
    pub fn claim_of(&self, node: &Node) -> Option<&Claim> {
        self.claims.get(self.claim_of_instance.get(node.provider_id.as_ref()?)?)
    }

    /// The node of a claim: the one on the same instance.
    #[must_use]
    pub fn node_of(&self, claim: &Claim) -> Option<&Node> {
        let id = claim.status.provider_id.as_ref()?;
        match &claim.status.node_name {
            Some(name) => self.nodes.get(name),
            None => self.nodes.values().find(|node| node.provider_id.as_ref() == Some(id)),
        }
    }

    /// The revision of the newest write.
    #[must_use]
    pub fn revision(&self) -> Revision {
        Revision(self.revision)
    }

    /// The objects written since this was last asked, in the order of the writes.
    pub(crate) fn take_touched(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.touched)
    }

    /// Every object of a kind, as a new watcher lists them.
    pub(crate) fn list(&self, kind: Kind) -> Vec<Event> {
        let seen = |object: Object| Event::Seen(Box::new(object));
        match kind {
            Kind::Pod => self.pods.values().cloned().map(Object::Pod).map(seen).collect(),
            Kind::Node => self.nodes.values().cloned().map(Object::Node).map(seen).collect(),
            Kind::Claim => self.claims.values().cloned().map(Object::Claim).map(seen).collect(),
            Kind::Pool => self.pools.values().cloned().map(Object::Pool).map(seen).collect(),
            Kind::NodeClass => {
                self.node_classes.values().cloned().map(Object::NodeClass).map(seen).collect()
            }
            Kind::PodDisruptionBudget => {
                self.pdbs.values().cloned().map(Object::PodDisruptionBudget).map(seen).collect()
            }
            Kind::DaemonSet => {
                self.daemon_sets.values().cloned().map(Object::DaemonSet).map(seen).collect()
            }
            Kind::Namespace => {
                self.namespaces.values().cloned().map(Object::Namespace).map(seen).collect()
            }
            Kind::VolumeAttachment => {
                self.attachments.values().cloned().map(Object::VolumeAttachment).map(seen).collect()
            }
        }
    }

    /// The names of a watcher's objects of a kind that are gone.
    pub(crate) fn gone_from(&self, kind: Kind, world: &kerf_engine::World) -> Vec<Key> {
        fn missing<'k, K: Ord + Clone + 'k, A, B>(
            theirs: &'k BTreeMap<K, A>,
            ours: &'k BTreeMap<K, B>,
        ) -> impl Iterator<Item = K> + 'k {
            theirs.keys().filter(|key| !ours.contains_key(key)).cloned()
        }
        match kind {
            Kind::Pod => missing(&world.pods, &self.pods).map(Key::Pod).collect(),
            Kind::Node => missing(&world.nodes, &self.nodes).map(Key::Node).collect(),
            Kind::Claim => missing(&world.claims, &self.claims).map(Key::Claim).collect(),
            Kind::Pool => missing(&world.pools, &self.pools).map(Key::Pool).collect(),
            Kind::NodeClass => {
                missing(&world.node_classes, &self.node_classes).map(Key::NodeClass).collect()
            }
            Kind::PodDisruptionBudget => missing(&world.pdbs, &self.pdbs)
                .map(|(namespace, name)| Key::PodDisruptionBudget(namespace, name))
                .collect(),
            Kind::DaemonSet => missing(&world.daemon_sets, &self.daemon_sets)
                .map(|(namespace, name)| Key::DaemonSet(namespace, name))
                .collect(),
            Kind::Namespace => {
                missing(&world.namespaces, &self.namespaces).map(Key::Namespace).collect()
            }
            Kind::VolumeAttachment => {
                missing(&world.attachments, &self.attachments).map(Key::VolumeAttachment).collect()
            }
        }
    }

    fn leave(&mut self, node: &Name, pod: &PodKey) {
        if let Some(keys) = self.pods_on.get_mut(node) {
            keys.remove(pod);
            if keys.is_empty() {
                self.pods_on.remove(node);
            }
        }
    }
}
