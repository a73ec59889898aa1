//! The nodes of a problem with everything about them that does not depend on the pods that wait.

use std::sync::Arc;

use kerf_model::bitset::BitSet;
use kerf_model::node::Node;
use kerf_model::taint::TaintSet;

use crate::reading::node::{Headroom, ReadNode};
use crate::reading::node_kind::NodeKind;
use crate::reading::shape_table::ShapeTable;
use crate::units::{self, Amounts};

/// Nodes in the order they are filled.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// As the problem lists them; held, so that the address of each stays its own.
    pub(crate) listed: Vec<Arc<Node>>,
    pub(crate) nodes: Vec<ClusterNode>,
    /// Where each node of the problem stands among `nodes`.
    order: Vec<u32>,
    /// The kinds of nodes there are, in the order they are met.
    pub(crate) kinds: Vec<KindMembers>,
    /// Every taint of some node.
    pub(crate) taints: TaintSet,
    /// By pool of the problem: what its nodes count against its limits.
    pub(crate) used: Vec<PoolUse>,
    /// By number of a shape: where its pods stand in `standing`, each range up to the next.
    shape_starts: Vec<u32>,
    /// Nodes, one entry for each pod.
    standing: Vec<u32>,
    /// Shapes that stand on a node and keep others away, in the order they are met.
    pub(crate) keeping_apart: Vec<u32>,
}

/// A node of a problem.
#[derive(Debug)]
pub(crate) struct ClusterNode {
    /// Which node of the problem.
    pub(crate) place: usize,
    /// What is left for pods; as in its headroom, but side by side with that of other nodes.
    pub(crate) free: Amounts,
    pub(crate) read: Arc<ReadNode>,
}

/// The nodes of one kind.
#[derive(Debug)]
pub(crate) struct KindMembers {
    pub(crate) kind: Arc<NodeKind>,
    pub(crate) nodes: BitSet,
}

/// What the nodes of a pool have together.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolUse {
    pub(crate) nodes: i64,
    pub(crate) capacity: Amounts,
}

impl Cluster {
    /// `read` has what was read of each node of the problem, `order` how they are filled.
    pub(crate) fn new(
        listed: &[Arc<Node>],
        order: Vec<usize>,
        read: Vec<Arc<ReadNode>>,
        shapes: &ShapeTable,
        pools: usize,
    ) -> Self {
        let mut cluster = Self {
            listed: listed.to_vec(),
            nodes: Vec::with_capacity(order.len()),
            order: vec![0; order.len()],
            used: vec![PoolUse::default(); pools],
            ..Self::default()
        };
        let mut members: Vec<Option<u32>> = Vec::new();
        for place in order {
            let read = read[place].clone();
            let index = u32::try_from(cluster.nodes.len()).expect("fewer than 2³² nodes");
            cluster.order[place] = index;
            cluster.note_kind(index, &read.kind, &mut members);
            if let Some(pool) = read.pool {
                cluster.used[pool].nodes += 1;
                units::add(&mut cluster.used[pool].capacity, &read.capacity, 1);
            }
            let free = read.headroom.free.clone();
            cluster.nodes.push(ClusterNode { place, free, read });
        }
        cluster.note_shapes(shapes);
        cluster
    }

    fn note_kind(&mut self, node: u32, kind: &Arc<NodeKind>, members: &mut Vec<Option<u32>>) {
        let number = kind.number as usize;
        if members.len() <= number {
            members.resize(number + 1, None);
        }
        let place = *members[number].get_or_insert_with(|| {
            self.taints.or_with(&kind.taints);
            self.kinds.push(KindMembers { kind: kind.clone(), nodes: BitSet::new() });
            u32::try_from(self.kinds.len() - 1).expect("fewer than 2³² kinds")
        });
        self.kinds[place as usize].nodes.insert(node);
    }

    /// Finds out where the pods of each shape stand.
    fn note_shapes(&mut self, shapes: &ShapeTable) {
        let mut counts: Vec<u32> = vec![0; shapes.len() + 1];
        for shape in self.nodes.iter().flat_map(|node| &node.read.bound) {
            let count = &mut counts[*shape as usize + 1];
            if *count == 0 && !shapes.shape(*shape as usize).anti_affinity.required.is_empty() {
                self.keeping_apart.push(*shape);
            }
            *count += 1;
        }
        for shape in 1..counts.len() {
            counts[shape] += counts[shape - 1];
        }
        self.shape_starts.clone_from(&counts);
        self.standing = vec![0; counts.last().map_or(0, |end| *end as usize)];
        for (index, node) in (0..).zip(&self.nodes) {
            for shape in &node.read.bound {
                let next = &mut counts[*shape as usize];
                self.standing[*next as usize] = index;
                *next += 1;
            }
        }
    }

    /// Whether these are the nodes, each as it was.
    pub(crate) fn lists(&self, nodes: &[Arc<Node>]) -> bool {
        self.listed.len() == nodes.len()
            && self.listed.iter().zip(nodes).all(|(known, node)| Arc::ptr_eq(known, node))
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn read(&self, index: usize) -> &ReadNode {
        &self.nodes[index].read
    }

    /// Where a node of the problem stands.
    pub(crate) fn index_of(&self, place: usize) -> usize {
        self.order[place] as usize
    }

    /// What was read of a node of the problem.
    pub(crate) fn read_of(&self, place: usize) -> &Arc<ReadNode> {
        &self.nodes[self.index_of(place)].read
    }

    /// What is left on a node before anybody is placed.
    pub(crate) fn headroom(&self, index: usize) -> &Headroom {
        &self.nodes[index].read.headroom
    }

    /// The nodes on which pods of a shape stand, one entry for each pod.
    pub(crate) fn nodes_of_shape(&self, shape: usize) -> &[u32] {
        let end = self.shape_starts.get(shape + 1).copied().unwrap_or(0) as usize;
        if end == 0 { &[] } else { &self.standing[self.shape_starts[shape] as usize..end] }
    }
}
