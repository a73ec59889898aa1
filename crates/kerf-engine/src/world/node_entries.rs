//! All nodes as the scheduler sees them, with what is asked of them together: which go away, and
//! what those of a pool have in all. Both follow each change, so that nobody has to walk over
//! thousands of nodes to learn about a few.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::node_entry::NodeEntry;
use crate::observed::{Name, Totals};

/// Nodes by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeEntries {
    /// Shared with every copy of the world.
    by_name: BTreeMap<Name, Arc<NodeEntry>>,
    /// Nodes by their claim; mostly one.
    by_claim: BTreeMap<Name, BTreeSet<Name>>,
    /// Those whose stored state says that they go.
    leaving: BTreeSet<Name>,
    /// By pool: what those have that stay.
    totals: BTreeMap<Name, Totals>,
}

impl NodeEntries {
    pub(crate) fn get(&self, name: &str) -> Option<&NodeEntry> {
        self.by_name.get(name).map(Arc::as_ref)
    }

    /// Every node, by name.
    pub(crate) fn values(&self) -> impl Iterator<Item = &NodeEntry> {
        self.by_name.values().map(Arc::as_ref)
    }

    /// The nodes of a claim.
    pub(crate) fn of_claim(&self, claim: &str) -> impl Iterator<Item = &NodeEntry> {
        let names = self.by_claim.get(claim).into_iter().flatten();
        names.filter_map(|name| self.get(name))
    }

    /// The names of those whose stored state says that they go.
    pub(crate) fn leaving_as_stored(&self) -> &BTreeSet<Name> {
        &self.leaving
    }

    /// What the nodes of a pool have whose stored state does not say that they go.
    pub(crate) fn totals(&self, pool: &str) -> Totals {
        self.totals.get(pool).cloned().unwrap_or_default()
    }

    pub(crate) fn insert(&mut self, name: Name, entry: NodeEntry) {
        self.remove(&name);
        if let Some(claim) = &entry.claim {
            self.by_claim.entry(claim.clone()).or_default().insert(name.clone());
        }
        if entry.is_leaving_as_stored {
            self.leaving.insert(name.clone());
        } else if let Some(pool) = &entry.pool {
            self.totals.entry(pool.clone()).or_default().add(&entry.capacity, 1);
        }
        self.by_name.insert(name, Arc::new(entry));
    }

    pub(crate) fn remove(&mut self, name: &Name) {
        let Some(entry) = self.by_name.remove(name) else { return };
        self.leaving.remove(name);
        if let Some(claim) = &entry.claim
            && let Some(nodes) = self.by_claim.get_mut(claim)
        {
            nodes.remove(name);
            if nodes.is_empty() {
                self.by_claim.remove(claim);
            }
        }
        if let Some(pool) = entry.pool.as_ref().filter(|_| !entry.is_leaving_as_stored)
            && let Some(totals) = self.totals.get_mut(pool)
        {
            totals.add(&entry.capacity, -1);
            if totals.is_empty() {
                self.totals.remove(pool);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kerf_model::quantity::Quantity;
    use kerf_model::resources::ResourceList;

    use super::*;
    use crate::observed::{Meta, Node, NodeProfile, Revision};
    use crate::time::Time;

    fn entry(name: &str, pool: &str, cpus: i64, is_leaving: bool) -> NodeEntry {
        let meta = Meta {
            name: name.into(),
            uid: name.into(),
            revision: Revision(0),
            generation: 0,
            created_at: Time::from_seconds(0),
            deleting_since: None,
        };
        let capacity: ResourceList = [("cpu", Quantity::from_int(cpus))].into_iter().collect();
        let node = Node {
            meta,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            finalizers: Vec::new(),
            owner_claim: None,
            provider_id: None,
            taints: Vec::new(),
            capacity: capacity.clone(),
            allocatable: capacity.clone(),
            is_ready: true,
            volume_limits: BTreeMap::new(),
            profile: NodeProfile::default(),
        };
        NodeEntry {
            node: Arc::new(node),
            claim: Some(format!("claim-{}", cpus % 3).into()),
            pool: Some(pool.into()),
            capacity,
            is_leaving_as_stored: is_leaving,
            view: None,
        }
    }

    /// What following each change must come to.
    fn assert_is_what_a_walk_finds(entries: &NodeEntries) {
        for pool in ["a", "b"] {
            let stays = |entry: &&NodeEntry| {
                entry.pool.as_deref() == Some(pool) && !entry.is_leaving_as_stored
            };
            let mut walked = Totals::default();
            entries.values().filter(stays).for_each(|entry| walked.add(&entry.capacity, 1));
            assert_eq!(entries.totals(pool).get("cpu"), walked.get("cpu"), "pool {pool}");
        }
        let leaving: BTreeSet<Name> = (entries.values().filter(|it| it.is_leaving_as_stored))
            .map(|it| it.node.meta.name.clone())
            .collect();
        assert_eq!(*entries.leaving_as_stored(), leaving);
        for claim in ["claim-0", "claim-1", "claim-2"] {
            let of = |entry: &&NodeEntry| entry.claim.as_deref() == Some(claim);
            assert_eq!(entries.of_claim(claim).count(), entries.values().filter(of).count());
        }
    }

    #[test]
    fn whatever_comes_changes_and_goes_the_sums_are_what_a_walk_over_all_nodes_finds() {
        let mut entries = NodeEntries::default();
        for step in 0..500i64 {
            let name = format!("node-{}", step * 7 % 13);
            match step * 5 % 11 {
                0 | 1 => entries.remove(&name.as_str().into()),
                2 => entries.insert(name.as_str().into(), entry(&name, "a", step, true)),
                3..6 => entries.insert(name.as_str().into(), entry(&name, "b", step, false)),
                _ => entries.insert(name.as_str().into(), entry(&name, "a", step, false)),
            }
            assert_is_what_a_walk_finds(&entries);
        }
        for name in 0..13 {
            entries.remove(&format!("node-{name}").as_str().into());
        }
        assert!(entries.totals.is_empty() && entries.by_claim.is_empty());
    }
}
