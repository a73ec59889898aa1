//! Pods that stand on nodes, as far as rules about other pods care.

use kerf_model::bitset::BitSet;
use kerf_model::requirement::Requirement;
use kerf_model::vocabulary::Vocabulary;

use crate::problem::PlacementProblem;
use crate::reading::class::ClassReader;
use crate::reading::domains::DomainCounts;
use crate::reading::group::{GroupId, Groups, TermKind};
use crate::reading::node::NodeState;
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
        nodes: &[NodeState],
        table: &ShapeTable,
        reader: &mut ClassReader<'_, '_>,
    ) -> Self {
        let mut shapes = vec![None; table.len()];
        let mut in_order = Vec::new();
        for number in nodes.iter().flat_map(|node| &node.bound) {
            if shapes[*number as usize].is_none() {
                shapes[*number as usize] = Some(BoundShape::default());
                in_order.push(*number as usize);
            }
        }
        for number in in_order {
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
    pub(crate) fn match_groups(&mut self, table: &ShapeTable, groups: &Groups) {
        for (number, slot) in self.shapes.iter_mut().enumerate() {
            let Some(bound) = slot else { continue };
            let shape = table.shape(number);
            bound.matched = groups.matching(&shape.namespace, table.labels(number));
            if bound.matched.is_empty() && bound.apart.is_empty() {
                *slot = None;
            }
        }
    }

    /// What each pod of a node is to each group it concerns.
    pub(crate) fn memberships(
        &self,
        node: &NodeState,
        groups: &Groups,
        problem: &PlacementProblem,
        vocabulary: &Vocabulary,
        mut each: impl FnMut(Membership),
    ) {
        let taints = &problem.nodes[node.node].taints;
        let concerned =
            node.bound.iter().filter_map(|number| self.shapes[*number as usize].as_ref());
        for shape in concerned {
            for group in shape.matched.iter().map(|group| group as GroupId) {
                let matches = groups.get(group).counts_node(&node.labels, taints, vocabulary);
                let carries = shape.apart.contains(&group);
                each(Membership { group, matches, carries });
            }
            for group in shape.apart.iter().copied() {
                if !shape.matched.contains(u32::try_from(group).expect("a group's index")) {
                    each(Membership { group, matches: false, carries: true });
                }
            }
        }
    }
}

impl Membership {
    /// Counts the pod in the domain that a node is in, or takes it out again (`by` is −1).
    pub(crate) fn count(
        self,
        node: &NodeState,
        groups: &Groups,
        counts: &mut DomainCounts,
        by: i64,
    ) {
        let label = node.labels.find(groups.get(self.group).key);
        if let Some(domain) = label.and_then(Requirement::single_value) {
            let of = |is: bool| if is { by } else { 0 };
            counts.note_existing(self.group, domain, of(self.matches), of(self.carries));
        }
    }
}
