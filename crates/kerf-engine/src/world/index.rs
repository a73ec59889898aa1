//! Answers kept ready: who is where and whose, without a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::World;
use crate::observed::{Claim, Name, Node, Pod, PodKey, PodPhase, VolumeAttachment};

/// Objects by what planners ask for, in the order of their names. They are shared with the world,
/// so that an answer is the object itself and not a name to look up.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pods_on: Groups<PodKey, Pod>,
    unschedulable: BTreeMap<PodKey, Arc<Pod>>,
    unjudged: BTreeMap<PodKey, Arc<Pod>>,
    nodes_on_instance: Groups<Name, Node>,
    pub(super) claim_of_instance: FxHashMap<Arc<str>, Arc<Claim>>,
    claims_without_node: BTreeMap<Name, Arc<Claim>>,
    claims_of_pool: Groups<Name, Claim>,
    attachments_on: Groups<Name, VolumeAttachment>,
    /// Nodes of which something changed: themselves, their claim, or the pods on them.
    pub(super) changed_nodes: BTreeSet<Name>,
}

/// Objects that have something in common.
type Groups<K, T> = FxHashMap<Arc<str>, BTreeMap<K, Arc<T>>>;

impl World {
    /// The pods bound to a node, ended ones left out.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Pod> {
        members(&self.index.pods_on, node)
    }

    /// The pods that wait for a node Kerf could make.
    pub fn unschedulable_pods(&self) -> impl Iterator<Item = &Pod> {
        self.index.unschedulable.values().map(Arc::as_ref)
    }

    /// The pods the scheduler has not come to yet.
    pub fn unjudged_pods(&self) -> impl Iterator<Item = &Pod> {
        self.index.unjudged.values().map(Arc::as_ref)
    }

    /// The nodes that say they run on an instance; more than one is a fault.
    pub fn nodes_on_instance(&self, provider_id: &str) -> impl Iterator<Item = &Node> {
        members(&self.index.nodes_on_instance, provider_id)
    }

    /// The claim a node belongs to: the one with the same instance.
    #[must_use]
    pub fn claim_of(&self, node: &Node) -> Option<&Claim> {
        self.claim_of_instance(node.provider_id.as_deref()?)
    }

    /// The claim whose instance this is.
    #[must_use]
    pub fn claim_of_instance(&self, provider_id: &str) -> Option<&Claim> {
        self.index.claim_of_instance.get(provider_id).map(Arc::as_ref)
    }

    /// The node of a claim, if exactly one says it runs on its instance.
    #[must_use]
    pub fn node_of(&self, claim: &Claim) -> Option<&Node> {
        let mut nodes = self.nodes_on_instance(claim.status.provider_id.as_deref()?);
        let node = nodes.next()?;
        nodes.next().is_none().then_some(node)
    }

    /// The claims whose instance no node says it runs on.
    pub(crate) fn claims_without_node(&self) -> impl Iterator<Item = &Claim> {
        self.index.claims_without_node.values().map(Arc::as_ref)
    }

    /// The claims that say they belong to a pool.
    pub fn claims_of(&self, pool: &str) -> impl Iterator<Item = &Claim> {
        members(&self.index.claims_of_pool, pool)
    }

    /// The volumes attached to a node.
    pub fn attachments_on(&self, node: &str) -> impl Iterator<Item = &VolumeAttachment> {
        members(&self.index.attachments_on, node)
    }
}

impl Index {
    pub(super) fn add_pod(&mut self, pod: &Arc<Pod>) {
        match &pod.phase {
            PodPhase::Bound { node } => {
                self.changed_nodes.insert(node.clone());
                enter(&mut self.pods_on, node, &pod.key, pod);
            }
            PodPhase::Unschedulable { .. } => {
                self.unschedulable.insert(pod.key.clone(), pod.clone());
            }
            PodPhase::Unjudged => drop(self.unjudged.insert(pod.key.clone(), pod.clone())),
            PodPhase::Waiting | PodPhase::Ended { .. } => {}
        }
    }

    pub(super) fn remove_pod(&mut self, pod: &Pod) {
        match &pod.phase {
            PodPhase::Bound { node } => {
                self.changed_nodes.insert(node.clone());
                leave(&mut self.pods_on, node, &pod.key);
            }
            PodPhase::Unschedulable { .. } => drop(self.unschedulable.remove(&pod.key)),
            PodPhase::Unjudged => drop(self.unjudged.remove(&pod.key)),
            PodPhase::Waiting | PodPhase::Ended { .. } => {}
        }
    }

    pub(super) fn add_node(&mut self, node: &Arc<Node>) {
        self.changed_nodes.insert(node.meta.name.clone());
        if let Some(id) = &node.provider_id {
            enter(&mut self.nodes_on_instance, id, &node.meta.name, node);
            if let Some(claim) = self.claim_of_instance.get(id) {
                self.claims_without_node.remove(&claim.meta.name);
            }
        }
    }

    pub(super) fn remove_node(&mut self, node: &Node) {
        self.changed_nodes.insert(node.meta.name.clone());
        if let Some(id) = &node.provider_id {
            leave(&mut self.nodes_on_instance, id, &node.meta.name);
            if let Some(claim) = self.claim_of_instance.get(id)
                && !self.nodes_on_instance.contains_key(id)
            {
                self.claims_without_node.insert(claim.meta.name.clone(), claim.clone());
            }
        }
    }

    pub(super) fn add_claim(&mut self, claim: &Arc<Claim>) {
        let id = claim.status.provider_id.as_ref();
        if !id.is_some_and(|id| self.nodes_on_instance.contains_key(id)) {
            self.claims_without_node.insert(claim.meta.name.clone(), claim.clone());
        }
        if let Some(id) = id {
            self.claim_of_instance.insert(id.clone(), claim.clone());
            self.note_claim_changed(id);
        }
        if let Some(pool) = claim.pool() {
            enter(&mut self.claims_of_pool, &Arc::from(pool), &claim.meta.name, claim);
        }
    }

    pub(super) fn remove_claim(&mut self, claim: &Claim) {
        self.claims_without_node.remove(&claim.meta.name);
        if let Some(id) = &claim.status.provider_id {
            self.claim_of_instance.remove(id);
            self.note_claim_changed(id);
        }
        if let Some(pool) = claim.pool() {
            leave(&mut self.claims_of_pool, pool, &claim.meta.name);
        }
    }

    /// A node is seen with its claim's eyes until it has come up.
    fn note_claim_changed(&mut self, provider_id: &str) {
        let nodes = self.nodes_on_instance.get(provider_id).into_iter().flat_map(BTreeMap::keys);
        self.changed_nodes.extend(nodes.cloned());
    }

    pub(super) fn add_attachment(&mut self, volume: &Arc<VolumeAttachment>) {
        enter(&mut self.attachments_on, &volume.node, &volume.meta.name, volume);
    }

    pub(super) fn remove_attachment(&mut self, volume: &VolumeAttachment) {
        leave(&mut self.attachments_on, &volume.node, &volume.meta.name);
    }
}

fn members<'a, K, T>(groups: &'a Groups<K, T>, group: &str) -> impl Iterator<Item = &'a T> {
    groups.get(group).into_iter().flat_map(BTreeMap::values).map(Arc::as_ref)
}

fn enter<K: Ord + Clone, T>(groups: &mut Groups<K, T>, group: &Arc<str>, key: &K, object: &Arc<T>) {
    groups.entry(group.clone()).or_default().insert(key.clone(), object.clone());
}

fn leave<K: Ord, T>(groups: &mut Groups<K, T>, group: &str, key: &K) {
    if let Some(members) = groups.get_mut(group) {
        members.remove(key);
        if members.is_empty() {
            groups.remove(group);
        }
    }
}
