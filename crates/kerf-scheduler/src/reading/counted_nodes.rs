//! Nodes on which pods stand that rules about neighbours speak of.

use crate::reading::cluster::Cluster;
use crate::reading::node::Headroom;
use crate::reading::occupancy::Occupancy;

/// What is left on such nodes, with the pods on them counted; every other node is as it was read.
#[derive(Debug, Default)]
pub(crate) struct CountedNodes {
    /// Of each node, one more than its place; empty while there is none.
    places: Vec<u32>,
    headrooms: Vec<Headroom>,
}

impl CountedNodes {
    pub(crate) fn get(&self, index: usize) -> Option<&Headroom> {
        let place = self.places.get(index).copied().filter(|place| *place > 0)?;
        Some(&self.headrooms[place as usize - 1])
    }

    /// The pods on a node, to be counted.
    pub(crate) fn occupancy_mut(&mut self, index: usize, cluster: &Cluster) -> &mut Occupancy {
        if self.places.is_empty() {
            self.places = vec![0; cluster.len()];
        }
        if self.places[index] == 0 {
            self.headrooms.push(cluster.headroom(index).clone());
            self.places[index] = u32::try_from(self.headrooms.len()).expect("fewer than 2³² nodes");
        }
        &mut self.headrooms[self.places[index] as usize - 1].occupancy
    }
}
