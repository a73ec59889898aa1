//! Answers kept ready: who is where and whose, without a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::kind::Objects;
use super::load::NodeLoads;
use super::pool_tally::{PoolTallies, PoolTally, Share};
use super::{Claim, Name, Node, Pod, PodKey, VolumeAttachment};

/// Objects by what planners ask for, in the order of their names. They are shared with
/// [`Objects`], so that an answer is the object itself and not a name to look up.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(super) pods_on: Groups<PodKey, Pod>,
    pub(super) unschedulable: BTreeMap<PodKey, Arc<Pod>>,
    pub(super) unjudged: BTreeMap<PodKey, Arc<Pod>>,
    /// By the instance's own id, as [`instance_id`] reads it.
    pub(super) nodes_on_instance: Groups<Name, Node>,
    pub(super) claims_on_instance: Groups<Name, Claim>,
    pub(super) claims_without_node: BTreeMap<Name, Arc<Claim>>,
    pub(super) claims_of_pool: Groups<Name, Claim>,
    pub(super) marked_claims: BTreeMap<Name, Arc<Claim>>,
    pub(super) drifted_claims: BTreeMap<Name, Arc<Claim>>,
    pub(super) departing_nodes: BTreeMap<Name, Arc<Node>>,
    pub(super) loads: NodeLoads,
    pub(crate) tallies: PoolTallies,
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
        self.index.nodes_on(provider_id)
    }

    /// The nodes with an instance of this id, as notices name it.
    pub fn nodes_with_instance_id(&self, id: &str) -> impl Iterator<Item = &Node> {
        self.index.nodes_on_instance.members(id)
    }

    /// The claims with an instance of this id, as notices name it; more than one is a fault.
    pub fn claims_with_instance_id(&self, id: &str) -> impl Iterator<Item = &Claim> {
        self.index.claims_on_instance.members(id)
    }

    /// The claim a node belongs to: the one with the same instance.
    #[must_use]
    pub fn claim_of(&self, node: &Node) -> Option<&Claim> {
        self.claim_of_instance(node.provider_id.as_deref()?)
    }

    /// The claim whose instance this is; the first by name where there are more, which is a fault.
    #[must_use]
    pub fn claim_of_instance(&self, provider_id: &str) -> Option<&Claim> {
        self.index.claims_on(provider_id).next()
    }

    /// The node of a claim, if exactly one says it runs on its instance.
    #[must_use]
    pub fn node_of(&self, claim: &Claim) -> Option<&Node> {
        self.index.node_of(claim)
    }

    /// The claims whose instance no node says it runs on.
    pub(crate) fn claims_without_node(&self) -> impl Iterator<Item = &Claim> {
        self.index.claims_without_node.values().map(Arc::as_ref)
    }

    /// The claims that say they belong to a pool.
    pub fn claims_of(&self, pool: &str) -> impl Iterator<Item = &Claim> {
        self.index.claims_of_pool.members(pool)
    }

    /// The claims that commands left something on: a record, a condition, or whom they replace.
    pub fn marked_claims(&self) -> impl Iterator<Item = &Claim> {
        self.index.marked_claims.values().map(Arc::as_ref)
    }

    /// The claims that say they have drifted.
    pub fn drifted_claims(&self) -> impl Iterator<Item = &Claim> {
        self.index.drifted_claims.values().map(Arc::as_ref)
    }

    /// The nodes that are being deleted, or closed to pods because they shall go.
    pub fn departing_nodes(&self) -> impl Iterator<Item = &Node> {
        self.index.departing_nodes.values().map(Arc::as_ref)
    }

    /// The nodes without pods that would want another place and cost something to move.
    pub fn idle_nodes(&self) -> impl Iterator<Item = &Name> {
        self.index.loads.idle()
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

/// The id of an instance, as the cloud and its notices name it: the last part of what nodes carry.
pub(crate) fn instance_id(provider_id: &str) -> &str {
    provider_id.rsplit('/').next().unwrap_or(provider_id)
}

impl Index {
    fn nodes_on(&self, provider_id: &str) -> impl Iterator<Item = &Node> {
        let nodes = self.nodes_on_instance.members(instance_id(provider_id));
        nodes.filter(move |node| node.provider_id.as_deref() == Some(provider_id))
    }

    fn claims_on(&self, provider_id: &str) -> impl Iterator<Item = &Claim> {
        let claims = self.claims_on_instance.members(instance_id(provider_id));
        claims.filter(move |claim| claim.status.provider_id.as_deref() == Some(provider_id))
    }

    fn node_of(&self, claim: &Claim) -> Option<&Node> {
        let mut nodes = self.nodes_on(claim.status.provider_id.as_deref()?);
        let node = nodes.next()?;
        nodes.next().is_none().then_some(node)
    }

    /// A node is seen with its claim's eyes until it has come up.
    pub(super) fn note_claim_changed(&mut self, provider_id: &str) {
        let nodes: Vec<Name> = self.nodes_on(provider_id).map(|it| it.meta.name.clone()).collect();
        self.changed_nodes.extend(nodes);
    }

    /// Adds a claim to the tally of its pool, or takes it off (`times` is −1). Before anything
    /// changes that a claim's share depends on it is taken off, and added when that is done.
    pub(super) fn tally(&mut self, claim: &Claim, times: i64) {
        let Some(pool) = claim.pool() else { return };
        let mut tallies = std::mem::take(&mut self.tallies);
        let tally = match tallies.get_mut(pool) {
            Some(tally) => tally,
            None => tallies.entry(pool.into()).or_default(),
        };
        Share::of(claim, self.node_of(claim)).count(tally, times);
        if *tally == PoolTally::default() {
            tallies.remove(pool);
        }
        self.tallies = tallies;
    }

    /// The same for every claim with this instance.
    pub(super) fn tally_instance(&mut self, provider_id: &str, times: i64) {
        let id = instance_id(provider_id);
        for claim in self.claims_on_instance.shared(id) {
            if claim.status.provider_id.as_deref() == Some(provider_id) {
                self.tally(&claim, times);
            }
        }
    }

    /// Notes which claims of an instance have no node.
    pub(super) fn note_arrivals(&mut self, provider_id: &str) {
        let has_node = self.nodes_on(provider_id).next().is_some();
        for claim in self.claims_on_instance.shared(instance_id(provider_id)) {
            if claim.status.provider_id.as_deref() != Some(provider_id) {
                continue;
            }
            if has_node {
                self.claims_without_node.remove(&claim.meta.name);
            } else {
                self.claims_without_node.insert(claim.meta.name.clone(), claim);
            }
        }
    }
}

impl<K: Ord + Clone, T> Groups<K, T> {
    pub(super) fn insert(&mut self, group: &str, key: &K, object: &Arc<T>) {
        let members = match self.0.get_mut(group) {
            Some(members) => members,
            None => self.0.entry(group.into()).or_default(),
        };
        members.insert(key.clone(), object.clone());
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

    /// The same, to be kept while the index changes.
    fn shared(&self, group: &str) -> Vec<Arc<T>> {
        self.0.get(group).into_iter().flat_map(BTreeMap::values).cloned().collect()
    }
}

impl<K, T> Default for Groups<K, T> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

#[cfg(test)]
mod tests;
