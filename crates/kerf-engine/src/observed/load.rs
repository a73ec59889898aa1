//! How many pods hold each node, so that those that none holds are found without a search.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Name;

/// The pods that hold nodes, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeLoads {
    by_node: FxHashMap<Name, NodeLoad>,
    /// Nodes that are there and that no pod holds.
    idle: BTreeSet<Name>,
}

#[derive(Clone, Copy, Debug, Default)]
struct NodeLoad {
    /// Whether the node is known; pods may be heard of first.
    is_there: bool,
    /// The pods that hold it.
    pods: u32,
}

impl NodeLoads {
    /// The nodes that no pod holds, by name.
    pub(super) fn idle(&self) -> impl Iterator<Item = &Name> {
        self.idle.iter()
    }

    pub(super) fn node_comes(&mut self, node: &Name) {
        self.change(node, |load| load.is_there = true);
    }

    pub(super) fn node_goes(&mut self, node: &Name) {
        self.change(node, |load| load.is_there = false);
    }

    pub(super) fn pod_comes(&mut self, node: &Name) {
        self.change(node, |load| load.pods += 1);
    }

    pub(super) fn pod_goes(&mut self, node: &Name) {
        self.change(node, |load| load.pods -= 1);
    }

    fn change(&mut self, node: &Name, change: impl FnOnce(&mut NodeLoad)) {
        let load = self.by_node.entry(node.clone()).or_default();
        let was_idle = load.is_idle();
        change(load);
        let load = *load;
        if !load.is_there && load.pods == 0 {
            self.by_node.remove(node);
        }
        match (was_idle, load.is_idle()) {
            (false, true) => drop(self.idle.insert(node.clone())),
            (true, false) => drop(self.idle.remove(node)),
            _ => {}
        }
    }
}

impl NodeLoad {
    fn is_idle(self) -> bool {
        self.is_there && self.pods == 0
    }
}
