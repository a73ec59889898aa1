//! Answers kept ready: who is where and whose, without a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::kind::Objects;
use super::{Claim, Name, Node, Pod, PodKey, VolumeAttachment};

/// Objects by what planners ask for, in the order of their names. They are shared with
/// [`Objects`], so that an answer is the object itself and not a name to look up.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(super) pods_on: Groups<PodKey, Pod>,
    pub(super) unschedulable: BTreeMap<PodKey, Arc<Pod>>,
    pub(super) unjudged: BTreeMap<PodKey, Arc<Pod>>,
    pub(super) nodes_on_instance: Groups<Name, Node>,
    pub(crate) claim_of_instance: FxHashMap<Arc<str>, Arc<Claim>>,
    pub(super) claims_without_node: BTreeMap<Name, Arc<Claim>>,
    pub(super) claims_of_pool: Groups<Name, Claim>,
    pub(super) attachments_on: Groups<Name, VolumeAttachment>,
    /// Nodes of which something changed: themselves, their claim, or the pods on them.
    pub(crate) changed_nodes: BTreeSet<Name>,
}

/// Objects that have something in common, by what it is.
#[derive(Clone, Debug)]
pub(super) struct Groups<K, T>(FxHashMap<Arc<str>, BTreeMap<K, Arc<T>>>);

impl Objects {
    /// The pods bound to a node, ended ones left out.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Pod> {
        self.index.pods_on.members(node)
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
        self.index.nodes_on_instance.members(provider_id)
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
        self.index.claims_of_pool.members(pool)
    }

    /// The volumes attached to a node.
    pub fn attachments_on(&self, node: &str) -> impl Iterator<Item = &VolumeAttachment> {
        self.index.attachments_on.members(node)
    }
}

impl Objects {
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// The nodes of which something changed since this was last asked. Who never asks for node
    /// views throws them away.
    pub fn take_changed_nodes(&mut self) -> BTreeSet<Name> {
        std::mem::take(&mut self.index.changed_nodes)
    }
}

impl Index {
    /// A node is seen with its claim's eyes until it has come up.
    pub(super) fn note_claim_changed(&mut self, provider_id: &str) {
        let nodes = self.nodes_on_instance.0.get(provider_id).into_iter();
        self.changed_nodes.extend(nodes.flat_map(BTreeMap::keys).cloned());
    }
}

impl<K: Ord + Clone, T> Groups<K, T> {
    pub(super) fn contains(&self, group: &str) -> bool {
        self.0.contains_key(group)
    }

    pub(super) fn insert(&mut self, group: &Arc<str>, key: &K, object: &Arc<T>) {
        self.0.entry(group.clone()).or_default().insert(key.clone(), object.clone());
    }

    pub(super) fn remove(&mut self, group: &str, key: &K) {
        if let Some(members) = self.0.get_mut(group) {
            members.remove(key);
            if members.is_empty() {
                self.0.remove(group);
            }
        }
    }

    fn members(&self, group: &str) -> impl Iterator<Item = &T> {
        self.0.get(group).into_iter().flat_map(BTreeMap::values).map(Arc::as_ref)
    }
}

impl<K, T> Default for Groups<K, T> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}
