//! The controllers of the cluster: they keep as many pods as each workload wants.

mod daemon_set;
mod deployment;
mod job;
mod pdb;
mod stateful_set;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{DaemonSet, Name, Pod, PodKey, PodOwner, PodPhase, PodTimes};
use kerf_model::generated_name::{ALPHABET, SUFFIX_LEN};
use kerf_model::pod::PodShape;
use rustc_hash::FxHashMap;

use crate::binder::Binder;
use crate::rng::Rng;
use crate::scenario::{Workload, WorkloadKind};
use crate::store::Store;

/// All workloads.
#[derive(Clone, Debug)]
pub(crate) struct Workloads {
    keepers: Vec<Keeper>,
    by_name: BTreeMap<Name, usize>,
    owner: FxHashMap<PodKey, usize>,
    dirty: BTreeSet<usize>,
    dirty_nodes: BTreeSet<Name>,
    rng: Rng,
}

/// One workload and its pods.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    pub(crate) workload: Arc<Workload>,
    pub(crate) wanted: u32,
    /// Every pod there is.
    pub(crate) all: BTreeSet<PodKey>,
    /// Those that neither ended nor are on their way out.
    pub(crate) active: BTreeSet<PodKey>,
    /// Those of them that are ready.
    pub(crate) ready: BTreeSet<PodKey>,
    /// Those that ended well; a job counts them.
    pub(crate) done: u32,
    /// The shapes of pods that differ by their volume, by number.
    shapes: BTreeMap<u32, Arc<PodShape>>,
    /// By node, for daemon sets.
    on_node: BTreeMap<Name, PodKey>,
}

impl Workloads {
    pub(crate) fn new(rng: Rng) -> Self {
        Self {
            keepers: Vec::new(),
            by_name: BTreeMap::new(),
            owner: FxHashMap::default(),
            dirty: BTreeSet::new(),
            dirty_nodes: BTreeSet::new(),
            rng,
        }
    }

    /// Adds a workload, with its PodDisruptionBudget and, for a daemon set, its object.
    pub(crate) fn add(&mut self, workload: &Arc<Workload>, store: &mut Store) {
        let index = self.keepers.len();
        self.by_name.insert(workload.name.clone(), index);
        self.dirty.insert(index);
        if workload.kind == WorkloadKind::DaemonSet {
            self.dirty_nodes.extend(store.nodes.keys().cloned());
            let meta = store.new_meta(workload.name.clone());
            let namespace: Name = Arc::from(workload.shape.namespace.as_str());
            let shape = daemon_set::shape(workload);
            store.put(Object::DaemonSet(DaemonSet { meta, namespace, shape }));
        }
        pdb::create(workload, store);
        self.keepers.push(Keeper::new(workload.clone()));
    }

    /// How many pods a workload shall have from now on.
    pub(crate) fn scale(&mut self, name: &str, to: u32) {
        if let Some(index) = self.by_name.get(name) {
            self.keepers[*index].wanted = to;
            self.keepers[*index].done = 0;
            self.dirty.insert(*index);
        }
    }

    /// Every workload.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Keeper> {
        self.keepers.iter()
    }

    /// The workload of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Keeper> {
        self.by_name.get(name).map(|index| &self.keepers[*index])
    }

    /// The workload a pod belongs to.
    pub(crate) fn workload_of(&self, pod: &PodKey) -> Option<&Arc<Workload>> {
        self.owner.get(pod).map(|index| &self.keepers[*index].workload)
    }

    /// Takes in a change.
    pub(crate) fn note(&mut self, key: &Key, store: &Store) {
        match key {
            Key::Pod(key) => {
                let Some(index) = self.owner.get(key).copied() else { return };
                let keeper = &mut self.keepers[index];
                if let Some(node) = keeper.note(key, store) {
                    self.dirty_nodes.insert(node);
                }
                if !store.pods.contains_key(key) {
                    self.owner.remove(key);
                }
                self.dirty.insert(index);
            }
            Key::Node(name) => {
                self.dirty_nodes.insert(name.clone());
            }
            _ => {}
        }
    }

    /// Makes and ends pods until every workload has what it wants.
    pub(crate) fn sync(&mut self, store: &mut Store, binder: &mut Binder) {
        let nodes = std::mem::take(&mut self.dirty_nodes);
        for index in 0..self.keepers.len() {
            if self.keepers[index].workload.kind == WorkloadKind::DaemonSet {
                for node in &nodes {
                    self.sync_daemon(index, node, store, binder);
                }
            }
        }
        for index in std::mem::take(&mut self.dirty) {
            match self.keepers[index].workload.kind {
                WorkloadKind::Deployment => self.sync_deployment(index, store),
                WorkloadKind::StatefulSet => self.sync_stateful_set(index, store),
                WorkloadKind::Job { completions, .. } => self.sync_job(index, completions, store),
                WorkloadKind::DaemonSet => {}
            }
            pdb::update(&self.keepers[index], store);
        }
    }

    fn create_pod(
        &mut self,
        index: usize,
        name: Name,
        shape: Arc<PodShape>,
        phase: PodPhase,
        store: &mut Store,
    ) {
        let workload = self.keepers[index].workload.clone();
        let key = PodKey { namespace: Arc::from(shape.namespace.as_str()), name: name.clone() };
        let pod = Pod {
            key: key.clone(),
            meta: store.new_meta(name),
            shape,
            phase,
            owner: match workload.kind {
                WorkloadKind::DaemonSet => PodOwner::DaemonSet,
                WorkloadKind::StatefulSet => PodOwner::StatefulSet,
                WorkloadKind::Deployment | WorkloadKind::Job { .. } => PodOwner::Other,
            },
            is_ready: false,
            started_at: None,
            times: PodTimes::default(),
            is_critical: workload.is_critical,
            priority: workload.priority,
            deletion_cost: 0,
            do_not_disrupt: workload.do_not_disrupt,
            termination_grace: Some(workload.grace),
            has_local_data: false,
            unusable: None,
            profile: Arc::default(),
        };
        self.owner.insert(key.clone(), index);
        store.put(Object::Pod(pod));
        self.keepers[index].note(&key, store);
    }

    fn generated_name(&mut self, prefix: &str) -> Name {
        let mut name = format!("{prefix}-");
        for _ in 0..SUFFIX_LEN {
            name.push(char::from(ALPHABET[self.rng.below(ALPHABET.len())]));
        }
        Arc::from(name)
    }
}

impl Keeper {
    fn new(workload: Arc<Workload>) -> Self {
        Self {
            wanted: workload.replicas,
            workload,
            all: BTreeSet::new(),
            active: BTreeSet::new(),
            ready: BTreeSet::new(),
            done: 0,
            shapes: BTreeMap::new(),
            on_node: BTreeMap::new(),
        }
    }

    /// Takes in what became of a pod. Returns the node it left, if a daemon did.
    fn note(&mut self, key: &PodKey, store: &Store) -> Option<Name> {
        let pod = store.pods.get(key);
        let is_active = pod.is_some_and(|pod| !pod.meta.is_deleting() && !pod.has_ended());
        let is_ready = is_active && pod.is_some_and(|pod| pod.is_ready);
        set(&mut self.all, key, pod.is_some());
        let was_active = self.active.contains(key);
        set(&mut self.active, key, is_active);
        set(&mut self.ready, key, is_ready);
        if was_active && pod.is_some_and(|pod| pod.has_ended()) {
            self.done += 1;
        }
        if pod.is_none() {
            let left = self.on_node.iter().find(|(_, daemon)| *daemon == key);
            let node = left.map(|(node, _)| node.clone())?;
            self.on_node.remove(&node);
            return Some(node);
        }
        None
    }
}

fn set(keys: &mut BTreeSet<PodKey>, key: &PodKey, is_in: bool) {
    if is_in {
        keys.insert(key.clone());
    } else {
        keys.remove(key);
    }
}
