//! The scheduler of the cluster: binds pods to nodes as kube-scheduler would, for the constraints
//! the model has, and says which pods fit nowhere.

pub(crate) mod capacity;
mod class;
mod domains;
mod pod_counts;

pub(crate) use capacity::Capacity;
pub(crate) use class::ClassId;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_engine::event::{Key, Object};
use kerf_engine::observed::{Name, Node, Pod, PodKey, PodPhase};
use kerf_engine::time::{Span, Time};
use kerf_model::host_port::HostPort;
use kerf_model::pod::PodShape;
use kerf_model::taint::Taint;
use rustc_hash::FxHashMap;

use crate::matching::{Labels, may_run, tolerates};
use crate::store::Store;
use class::Class;
use domains::Domains;
use pod_counts::PodCounts;

/// What the scheduler knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Binder {
    classes: Vec<Class>,
    class_of: FxHashMap<usize, ClassId>,
    pod_counts: PodCounts,
    nodes: FxHashMap<Name, Slot>,
    order: Vec<Name>,
    start: usize,
    placed: FxHashMap<PodKey, Placed>,
    waiting: BTreeSet<(i64, PodKey)>,
    waits_since: FxHashMap<PodKey, i64>,
    /// Those of them that were not tried since something changed.
    fresh: BTreeSet<(i64, PodKey)>,
    namespaces: BTreeMap<String, Labels>,
    /// How long pods waited for a node.
    pub(crate) waits: Waits,
}

/// How long pods waited, from their creation until they were bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How many pods were bound.
    pub pods: u64,
    /// All their waiting together.
    pub total: Span,
    /// The longest of them.
    pub longest: Span,
}

impl Waits {
    fn add(&mut self, waited: Span) {
        self.pods += 1;
        self.total = Span::from_millis(self.total.millis().saturating_add(waited.millis()));
        self.longest = self.longest.max(waited);
    }

    /// How long a pod waited on average.
    #[must_use]
    pub fn mean(&self) -> Span {
        Span::from_millis(self.total.millis() / self.pods.max(1))
    }
}

/// A node as the scheduler sees it.
#[derive(Clone, Debug)]
struct Slot {
    labels: Labels,
    taints: Vec<Taint>,
    whole: Capacity,
    left: Capacity,
    ports: Vec<(PodKey, HostPort)>,
    /// Whether each class may stand here, as far as labels and taints go; by class.
    welcomes: Vec<Option<Welcome>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Welcome {
    by_labels: bool,
    by_taints: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    node: Name,
    class: ClassId,
    is_leaving: bool,
}

/// Nodes compared for one pod: kube-scheduler, too, stops looking once it has found enough.
const FEASIBLE_ENOUGH: usize = 50;

impl Binder {
    /// Whether some pod waits that was not tried since something changed.
    pub(crate) fn has_work(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// How many pods wait.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    /// Whether pods that fit nowhere should be tried again.
    pub(crate) fn retry(&mut self) {
        self.fresh = self.waiting.clone();
    }

    /// Takes in a change. Returns whether it may have freed capacity.
    pub(crate) fn note(&mut self, key: &Key, store: &Store) -> bool {
        match key {
            Key::Pod(pod) => self.note_pod(pod, store),
            Key::Node(name) => self.note_node(name, store),
            Key::Namespace(name) => {
                if let Some(namespace) = store.namespaces.get(name) {
                    self.namespaces.insert(name.to_string(), namespace.labels.clone());
                }
                false
            }
            _ => false,
        }
    }

    /// Binds what fits and marks what does not.
    pub(crate) fn pass(&mut self, store: &mut Store, now: Time) {
        let mut queue: BTreeMap<ClassId, Vec<PodKey>> = BTreeMap::new();
        let mut order: Vec<ClassId> = Vec::new();
        let due: Vec<PodKey> = self.fresh.iter().map(|(_, key)| key.clone()).collect();
        for key in due {
            let Some(pod) = store.pods.get(&key) else { continue };
            let class = self.class(&pod.shape.clone());
            if !queue.contains_key(&class) {
                order.push(class);
            }
            queue.entry(class).or_default().push(key);
        }
        for class in order {
            self.place(class, queue.remove(&class).unwrap_or_default(), store, now);
        }
    }

    /// Whether a pod of a daemon set may run on a node, and whether there is capacity for it.
    pub(crate) fn daemon_fits(&mut self, shape: &Arc<PodShape>, node: &Name) -> (bool, bool) {
        let class = self.class(shape);
        let requests = self.classes[class.0].requests.clone();
        let welcome = self.welcome(class, node);
        let fits = self.nodes.get(node).is_some_and(|slot| slot.left.holds(&requests));
        (welcome.by_labels && welcome.by_taints, fits)
    }

    /// What is left of a node, and what it has in all.
    pub(crate) fn capacity_of(&self, node: &str) -> Option<(&Capacity, &Capacity)> {
        self.nodes.get(node).map(|slot| (&slot.left, &slot.whole))
    }

    fn place(&mut self, id: ClassId, pods: Vec<PodKey>, store: &mut Store, now: Time) {
        let names = std::mem::take(&mut self.order);
        for name in &names {
            self.welcome(id, name);
        }
        let class = self.classes[id.0].clone();
        let mut domains = Domains::read(&class, id, &self.nodes, &self.pod_counts);
        // Nothing leaves while these pods are placed: a node that cannot take one now never will.
        let mut open: Vec<usize> =
            (0..names.len()).filter(|index| self.is_open(&class, id, &names[*index])).collect();
        let mut pods = pods.into_iter();
        for key in pods.by_ref() {
            let Some(index) = self.choose(&class, &domains, &names, &open) else {
                self.refuse(key, store, now);
                break;
            };
            let node = &names[index];
            domains.add(&class, &self.nodes[node].labels);
            let Some(pod) = store.pods.get(&key) else { continue };
            let mut pod = Pod::clone(pod);
            pod.phase = PodPhase::Bound { node: node.clone() };
            self.waits.add(now.since(pod.meta.created_at));
            store.put(Object::Pod(pod));
            self.note_pod(&key, store);
            if !self.is_open(&class, id, node) {
                open.retain(|other| *other != index);
            }
        }
        self.order = names;
        // Where one of a kind fits nowhere, no other does.
        for key in pods {
            self.refuse(key, store, now);
        }
    }

    /// Whether a node could take a pod of a class, whatever runs elsewhere.
    fn is_open(&self, class: &Class, id: ClassId, name: &Name) -> bool {
        let slot = &self.nodes[name];
        let welcome = slot.welcomes.get(id.0).copied().flatten();
        welcome.is_some_and(|welcome| welcome.by_labels && welcome.by_taints)
            && slot.left.holds(&class.requests)
            && slot.has_ports(class)
    }

    /// The best of the first open nodes that will do, beginning where the last search ended.
    fn choose(
        &mut self,
        class: &Class,
        domains: &Domains,
        names: &[Name],
        open: &[usize],
    ) -> Option<usize> {
        let mut best: Option<(i128, usize)> = None;
        let mut found = 0;
        let (before, after) = open.split_at(open.partition_point(|index| *index < self.start));
        for index in after.iter().chain(before).copied() {
            let slot = &self.nodes[&names[index]];
            if !domains.admit(class, &slot.labels) {
                continue;
            }
            let score = slot.left.share_of(&slot.whole);
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, index));
            }
            found += 1;
            if found == FEASIBLE_ENOUGH {
                self.start = (index + 1) % names.len();
                break;
            }
        }
        best.map(|(_, index)| index)
    }

    fn refuse(&mut self, key: PodKey, store: &mut Store, now: Time) {
        if let Some(pod) = store.pods.get(&key)
            && pod.phase == PodPhase::Unjudged
        {
            let mut pod = Pod::clone(pod);
            pod.phase = PodPhase::Unschedulable { since: now };
            store.put(Object::Pod(pod));
        }
        if let Some(since) = self.waits_since.get(&key) {
            self.fresh.remove(&(*since, key));
        }
    }

    fn note_pod(&mut self, key: &PodKey, store: &Store) -> bool {
        let is_now = store.pods.get(key);
        let placed = is_now.and_then(|pod| {
            let node = pod.node()?.clone();
            Some(Placed { node, class: self.class(&pod.shape), is_leaving: pod.meta.is_deleting() })
        });
        let was = self.placed.get(key).cloned();
        let mut freed = false;
        if was != placed {
            if let Some(was) = &was {
                self.uncount(key, was);
                freed = true;
            }
            match placed {
                Some(placed) => self.count(key, placed),
                None => drop(self.placed.remove(key)),
            }
        }
        let waits = is_now.is_some_and(|pod| {
            matches!(pod.phase, PodPhase::Unjudged | PodPhase::Unschedulable { .. })
        });
        match is_now {
            Some(pod) if waits => {
                let since = pod.meta.created_at.millis();
                if self.waits_since.insert(key.clone(), since).is_none() {
                    self.waiting.insert((since, key.clone()));
                    self.fresh.insert((since, key.clone()));
                }
            }
            _ => {
                if let Some(since) = self.waits_since.remove(key) {
                    let entry = (since, key.clone());
                    self.waiting.remove(&entry);
                    self.fresh.remove(&entry);
                }
            }
        }
        freed
    }

    fn note_node(&mut self, name: &Name, store: &Store) -> bool {
        let Some(node) = store.nodes.get(name) else {
            self.nodes.remove(name);
            self.order.retain(|known| known != name);
            return true;
        };
        let whole = Capacity::of(&node.allocatable);
        if let Some(slot) = self.nodes.get_mut(name) {
            let same = slot.labels == node.labels && slot.taints == node.taints;
            if same && slot.whole == whole {
                return false;
            }
        } else {
            self.order.push(name.clone());
        }
        let slot = self.read_node(node, whole, store);
        self.nodes.insert(name.clone(), slot);
        true
    }

    fn read_node(&mut self, node: &Node, whole: Capacity, store: &Store) -> Slot {
        let mut left = whole.clone();
        let mut ports = Vec::new();
        for pod in store.pods_on(&node.meta.name) {
            if let Some(placed) = self.placed.get(&pod.key) {
                left.subtract(&self.classes[placed.class.0].requests);
                ports.extend(pod.shape.host_ports.iter().map(|port| (pod.key.clone(), *port)));
            }
        }
        let (labels, taints) = (node.labels.clone(), node.taints.clone());
        Slot { labels, taints, whole, left, ports, welcomes: Vec::new() }
    }

    fn count(&mut self, key: &PodKey, placed: Placed) {
        let class = &self.classes[placed.class.0];
        for (count_id, counts_leaving) in &class.counts_in {
            if *counts_leaving || !placed.is_leaving {
                self.pod_counts.add(*count_id, &placed.node);
            }
        }
        if let Some(slot) = self.nodes.get_mut(&placed.node) {
            slot.left.subtract(&class.requests);
            slot.ports.extend(class.shape.host_ports.iter().map(|port| (key.clone(), *port)));
        }
        self.placed.insert(key.clone(), placed);
    }

    fn uncount(&mut self, key: &PodKey, placed: &Placed) {
        let class = &self.classes[placed.class.0];
        for (count_id, counts_leaving) in &class.counts_in {
            if *counts_leaving || !placed.is_leaving {
                self.pod_counts.subtract(*count_id, &placed.node);
            }
        }
        if let Some(slot) = self.nodes.get_mut(&placed.node) {
            slot.left.add(&class.requests);
            slot.ports.retain(|(owner, _)| owner != key);
        }
        self.placed.remove(key);
    }

    fn class(&mut self, shape: &Arc<PodShape>) -> ClassId {
        let address = Arc::as_ptr(shape) as usize;
        if let Some(id) = self.class_of.get(&address) {
            return *id;
        }
        // The class keeps the shape alive, so no other shape can come to the same address.
        let (class, fresh) = Class::read(shape, &mut self.pod_counts, &self.namespaces);
        let id = ClassId(self.classes.len());
        self.classes.push(class);
        self.class_of.insert(address, id);
        if fresh.is_empty() {
            self.classes[id.0].meet(&self.pod_counts, &self.namespaces);
        } else {
            self.recount();
        }
        id
    }

    /// Counts everything anew after a count was added.
    fn recount(&mut self) {
        let placed: Vec<(PodKey, Placed)> =
            self.placed.iter().map(|(key, placed)| (key.clone(), placed.clone())).collect();
        for (key, placed) in &placed {
            self.uncount(key, placed);
        }
        for class in &mut self.classes {
            class.meet(&self.pod_counts, &self.namespaces);
        }
        for (key, placed) in placed {
            self.count(&key, placed);
        }
    }

    fn welcome(&mut self, id: ClassId, node: &Name) -> Welcome {
        let no = Welcome { by_labels: false, by_taints: false };
        let Some(slot) = self.nodes.get_mut(node) else { return no };
        if slot.welcomes.len() <= id.0 {
            slot.welcomes.resize(id.0 + 1, None);
        }
        let shape = &self.classes[id.0].shape;
        let (labels, taints) = (&slot.labels, &slot.taints);
        *slot.welcomes[id.0].get_or_insert_with(|| Welcome {
            by_labels: may_run(shape, labels),
            by_taints: tolerates(shape, taints),
        })
    }
}

impl Slot {
    fn has_ports(&self, class: &Class) -> bool {
        let wanted = &class.shape.host_ports;
        wanted.is_empty()
            || !self.ports.iter().any(|(_, taken)| wanted.iter().any(|port| port.clashes(taken)))
    }
}
