//! The nodes as one what-if sees them.

use std::borrow::Cow;

use crate::reading::cluster::Cluster;
use crate::reading::counted_nodes::CountedNodes;
use crate::reading::node::Headroom;
use crate::units::Amounts;

/// Nodes that are shared with other what-ifs until this one changes them.
pub(crate) struct Nodes<'b> {
    cluster: &'b Cluster,
    counted: &'b CountedNodes,
    /// Of each node, one more than the place of its own copy; zero while it has none.
    copies: Vec<u32>,
    /// Nodes that another has changed before are borrowed until this what-if changes them too.
    own: Vec<(usize, Cow<'b, Headroom>)>,
}

impl<'b> Nodes<'b> {
    /// All nodes as they are.
    pub(crate) fn of(cluster: &'b Cluster, counted: &'b CountedNodes) -> Self {
        Self { cluster, counted, copies: vec![0; cluster.len()], own: Vec::new() }
    }

    /// All nodes as they are, but for those that something else has changed before.
    pub(crate) fn over(
        cluster: &'b Cluster,
        counted: &'b CountedNodes,
        changed: impl Iterator<Item = (usize, &'b Headroom)>,
    ) -> Self {
        let mut nodes = Self::of(cluster, counted);
        for (index, headroom) in changed {
            nodes.own.push((index, Cow::Borrowed(headroom)));
            nodes.copies[index] = u32::try_from(nodes.own.len()).expect("fewer than 2³² nodes");
        }
        nodes
    }

    /// What is left on a node.
    pub(crate) fn headroom(&self, index: usize) -> &Headroom {
        match self.copies[index] {
            0 => self.shared(index),
            place => &self.own[place as usize - 1].1,
        }
    }

    fn shared(&self, index: usize) -> &'b Headroom {
        self.counted.get(index).unwrap_or_else(|| self.cluster.headroom(index))
    }

    /// What is left on a node for pods.
    pub(crate) fn free(&self, index: usize) -> &Amounts {
        match self.copies[index] {
            0 => &self.cluster.nodes[index].free,
            place => &self.own[place as usize - 1].1.free,
        }
    }

    /// What is left on a node, to be changed.
    pub(crate) fn headroom_mut(&mut self, index: usize) -> &mut Headroom {
        if self.copies[index] == 0 {
            self.own.push((index, Cow::Owned(self.shared(index).clone())));
            self.copies[index] = u32::try_from(self.own.len()).expect("fewer than 2³² nodes");
        }
        self.own[self.copies[index] as usize - 1].1.to_mut()
    }

    /// Takes a node away: nothing stands there and nothing fits any more.
    pub(crate) fn remove(&mut self, index: usize) {
        *self.headroom_mut(index) = Headroom::none();
    }

    /// Every node.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Headroom)> {
        (0..self.cluster.len()).map(|index| (index, self.headroom(index)))
    }

    /// The nodes this what-if has changed, in order.
    pub(crate) fn changed(&self) -> Vec<usize> {
        let own = self.own.iter().filter(|(_, headroom)| matches!(headroom, Cow::Owned(_)));
        let mut changed: Vec<usize> = own.map(|(index, _)| *index).collect();
        changed.sort_unstable();
        changed
    }
}
