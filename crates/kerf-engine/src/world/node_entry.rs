//! Nodes as the scheduler sees them, made once and kept until something about them changes.
//!
//! A snapshot of the world for a solve copies pointers to these, and what the scheduler has read
//! of one serves it as long as the pointer is the same.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::labels::well_known::NODE_POOL;
use kerf_model::node::{BoundPod, Node as NodeView};
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

use super::World;
use super::leaving::is_leaving_as_stored;
use crate::observed::{Name, Node, Pod, PodOwner, Totals};

/// A node with its claim, and what the scheduler may count on.
#[derive(Clone, Debug)]
pub(crate) struct NodeEntry {
    pub(crate) node: Arc<Node>,
    /// The claim it belongs to.
    pub(crate) claim: Option<Name>,
    /// The pool it counts for: its claim's, or the one its label names.
    pub(crate) pool: Option<Name>,
    /// What it counts for against the limits of its pool.
    pub(crate) capacity: ResourceList,
    /// Whether its own stored state or its claim's says that it goes.
    pub(crate) is_leaving_as_stored: bool,
    /// The node with the pods bound to it; none while it cannot be counted on.
    pub(crate) view: Option<Arc<NodeView>>,
}

/// Nodes that changed are made ready when provisioning looks at them, or when there are so many.
const CHANGED_MAX: usize = 1_000;

impl World {
    /// Every node, by name.
    pub(crate) fn node_entries(&self) -> Box<dyn Iterator<Item = Cow<'_, NodeEntry>> + '_> {
        if self.index().changed_nodes.is_empty() {
            return Box::new(self.node_entries.values().map(Cow::Borrowed));
        }
        Box::new(self.nodes.iter().map(|(name, node)| match self.node_entries.get(name) {
            Some(entry) if !self.index().changed_nodes.contains(name) => Cow::Borrowed(entry),
            _ => Cow::Owned(self.node_entry(node)),
        }))
    }

    /// Makes the nodes ready that changed.
    pub(crate) fn refresh_node_entries(&mut self) {
        for name in self.objects.take_changed_nodes() {
            match self.nodes.get(&name) {
                Some(node) => {
                    let entry = self.node_entry(node);
                    self.node_entries.insert(name, entry);
                }
                None => self.node_entries.remove(&name),
            }
        }
    }

    /// Whether nodes wait to be made ready although nobody looks at them.
    pub(crate) fn has_many_changed_nodes(&self) -> bool {
        self.index().changed_nodes.len() > CHANGED_MAX
    }

    fn node_entry(&self, node: &Arc<Node>) -> NodeEntry {
        let pods = self.pods_on(&node.meta.name).map(bound_pod).collect();
        let view = self.node_view(node, pods).map(Arc::new);
        let capacity = match &view {
            Some(view) => view.capacity.clone(),
            None => self.node_capacity(node),
        };
        let id = node.provider_id.as_deref();
        let claim = id.and_then(|id| self.claim_of_instance(id));
        let label = || node.labels.get(NODE_POOL).map(String::as_str);
        let pool = claim.and_then(|claim| claim.pool()).or_else(label).map(Name::from);
        let is_leaving_as_stored =
            node.meta.is_deleting() || claim.is_some_and(is_leaving_as_stored);
        let claim = claim.map(|claim| claim.meta.name.clone());
        NodeEntry { node: node.clone(), claim, pool, capacity, is_leaving_as_stored, view }
    }

    /// The nodes on their way out, by name.
    pub(crate) fn leaving_nodes(&self) -> BTreeSet<Name> {
        if !self.index().changed_nodes.is_empty() {
            let leaving = self.node_entries().filter(|entry| self.is_entry_leaving(entry));
            return leaving.map(|entry| entry.node.meta.name.clone()).collect();
        }
        let mut leaving = self.node_entries.leaving_as_stored().clone();
        leaving.extend(self.chosen_nodes().map(|entry| entry.node.meta.name.clone()));
        leaving
    }

    /// The nodes that Kerf decided to take away, as far as they were made ready; some may come
    /// more than once.
    fn chosen_nodes(&self) -> impl Iterator<Item = &NodeEntry> {
        let memory = &self.memory;
        let drained = memory.drains.keys().filter_map(|name| self.node_entries.get(name));
        let claims = memory.commands.disrupting().chain(memory.interrupted.keys());
        let taken = memory.deletions.iter().filter(|(_, it)| it.is_taken()).map(|(name, _)| name);
        let claims = claims.chain(&memory.surplus).chain(taken);
        drained.chain(claims.flat_map(|claim| self.node_entries.of_claim(claim)))
    }

    /// What the nodes of a pool have that stay, of each resource.
    pub(crate) fn pool_capacity<'n>(
        &self,
        pool: &str,
        resources: impl Iterator<Item = &'n str>,
    ) -> Vec<(&'n str, Option<Quantity>)> {
        let totals = self.pool_totals(pool);
        resources.map(|resource| (resource, totals.get(resource))).collect()
    }

    fn pool_totals(&self, pool: &str) -> Totals {
        let mut totals = self.node_entries.totals(pool);
        let is_own = |entry: &NodeEntry| entry.pool.as_deref() == Some(pool);
        let changed = &self.index().changed_nodes;
        for name in changed {
            let before = self.node_entries.get(name).filter(|entry| is_own(entry));
            if let Some(before) = before.filter(|before| !before.is_leaving_as_stored) {
                totals.add(&before.capacity, -1);
            }
            let now = self.nodes.get(name).map(|node| self.node_entry(node));
            if let Some(now) = now.filter(|now| is_own(now) && !self.is_entry_leaving(now)) {
                totals.add(&now.capacity, 1);
            }
        }
        let chosen = self.chosen_nodes().filter(|entry| {
            is_own(entry) && !entry.is_leaving_as_stored && !changed.contains(&entry.node.meta.name)
        });
        let chosen: BTreeMap<&Name, &NodeEntry> =
            chosen.map(|entry| (&entry.node.meta.name, entry)).collect();
        chosen.values().for_each(|entry| totals.add(&entry.capacity, -1));
        totals
    }

    /// Whether the node of an entry is on its way out.
    pub(crate) fn is_entry_leaving(&self, entry: &NodeEntry) -> bool {
        let memory = &self.memory;
        entry.is_leaving_as_stored
            || !memory.drains.is_empty() && memory.drains.contains_key(&entry.node.meta.name)
            || entry.claim.as_ref().is_some_and(|claim| self.is_chosen_to_leave(claim))
    }
}

impl NodeEntry {
    /// What nominations for the node name: its claim, or itself where there is none.
    pub(crate) fn nomination_target(&self) -> &Name {
        self.claim.as_ref().unwrap_or(&self.node.meta.name)
    }
}

/// A pod in the words of the scheduler, as if it stood on a node.
pub(crate) fn bound_pod(pod: &Pod) -> BoundPod {
    BoundPod {
        pod: pod.to_model(),
        is_daemon: pod.owner == PodOwner::DaemonSet,
        is_leaving: pod.meta.is_deleting(),
    }
}

impl Pod {
    /// The pod in the words of the scheduler.
    pub(crate) fn to_model(&self) -> kerf_model::pod::Pod {
        kerf_model::pod::Pod {
            name: self.key.name.as_ref().to_owned(),
            uid: self.meta.uid.as_ref().to_owned(),
            created_at: self.meta.created_at.seconds(),
            shape: self.shape.clone(),
        }
    }
}
