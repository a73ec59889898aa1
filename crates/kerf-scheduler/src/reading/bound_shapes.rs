//! Pods that stand on nodes, as far as rules about other pods care.

use kerf_model::bitset::BitSet;
use kerf_model::vocabulary::Vocabulary;

use crate::reading::class::ClassReader;
use crate::reading::cluster::Cluster;
use crate::reading::domains::DomainCounts;
use crate::reading::group::{GroupId, Groups, TermKind};
use crate::reading::node::ReadNode;
use crate::reading::shape_table::ShapeTable;

/// What the shapes that stand on nodes are to the groups of a problem.
pub(crate) struct BoundShapes {
    /// By number of the shape; none for those that stand nowhere or concern no group.
    shapes: Vec<Option<BoundShape>>,
}

/// Pods of one shape that stand on nodes.
#[derive(Clone, Default)]
struct BoundShape {
    /// The groups they match.
    matched: BitSet,
    /// The groups whose rule they have: their anti-affinity keeps others away.
    apart: Vec<GroupId>,
}

/// What a pod on a node is to a group.
#[derive(Clone, Copy)]
pub(crate) struct Membership {
    pub(crate) group: GroupId,
    pub(crate) matches: bool,
    pub(crate) carries: bool,
}

impl BoundShapes {
    /// Makes groups of the anti-affinity of every shape that stands on a node.
    pub(crate) fn read(
        cluster: &Cluster,
        table: &ShapeTable,
        reader: &mut ClassReader<'_, '_>,
    ) -> Self {
        let mut shapes = vec![None; table.len()];
        for number in cluster.keeping_apart.iter().map(|number| *number as usize) {
            let shape = table.shape(number);
            let mut apart = Vec::new();
            for term in &shape.anti_affinity.required {
                let context = &mut reader.context;
                apart.push(reader.groups.of_term(shape, term, TermKind::AntiAffinity, context));
            }
            shapes[number] = Some(BoundShape { matched: BitSet::new(), apart });
        }
        Self { shapes }
    }

    /// Finds the groups they count in, once all are known.
    pub(crate) fn match_groups(&mut self, cluster: &Cluster, table: &ShapeTable, groups: &Groups) {
        if groups.len() == 0 {
            return;
        }
        for (number, slot) in self.shapes.iter_mut().enumerate() {
            if cluster.nodes_of_shape(number).is_empty() {
                continue;
            }
            let matched = groups.matching(&table.shape(number).namespace, table.labels(number));
            match slot {
                Some(bound) => bound.matched = matched,
                None if matched.is_empty() => {}
                None => *slot = Some(BoundShape { matched, apart: Vec::new() }),
            }
        }
    }

    /// What each pod of the cluster is to each group it concerns, with the node it stands on.
    pub(crate) fn all_memberships(
        &self,
        cluster: &Cluster,
        groups: &Groups,
        vocabulary: &Vocabulary,
        mut each: impl FnMut(usize, Membership),
    ) {
        for (number, shape) in self.shapes.iter().enumerate() {
            let Some(shape) = shape else { continue };
            for node in cluster.nodes_of_shape(number).iter().map(|node| *node as usize) {
                shape.memberships(cluster.read(node), groups, vocabulary, |it| each(node, it));
            }
        }
    }

    /// What each pod of a node is to each group it concerns.
    pub(crate) fn memberships(
        &self,
        node: &ReadNode,
        groups: &Groups,
        vocabulary: &Vocabulary,
        mut each: impl FnMut(Membership),
    ) {
        for shape in node.bound.iter().filter_map(|number| self.shapes[*number as usize].as_ref()) {
            shape.memberships(node, groups, vocabulary, &mut each);
        }
    }
}

impl BoundShape {
    fn memberships(
        &self,
        node: &ReadNode,
        groups: &Groups,
        vocabulary: &Vocabulary,
        mut each: impl FnMut(Membership),
    ) {
        for group in self.matched.iter().map(|group| group as GroupId) {
            let matches = groups.get(group).counts_node(node, vocabulary);
            each(Membership { group, matches, carries: self.apart.contains(&group) });
        }
        for group in self.apart.iter().copied() {
            if !self.matched.contains(u32::try_from(group).expect("a group's index")) {
                each(Membership { group, matches: false, carries: true });
            }
        }
    }
}

impl Membership {
    /// Counts the pod in the domain that a node is in, or takes it out again (`by` is −1).
    pub(crate) fn count(
        self,
        node: &ReadNode,
        groups: &Groups,
        counts: &mut DomainCounts,
        by: i64,
    ) {
        if let Some(domain) = node.label(groups.get(self.group).key) {
            let of = |is: bool| if is { by } else { 0 };
            counts.note_existing(self.group, domain, of(self.matches), of(self.carries));
        }
    }
}
