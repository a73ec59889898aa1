//! Pods that stand on nodes, as far as rules about other pods care.

use kerf_model::bitset::BitSet;
use kerf_model::requirement::Requirement;
use kerf_model::selector::LabelSet;
use kerf_model::vocabulary::Vocabulary;

use crate::problem::PlacementProblem;
use crate::reading::class::ClassReader;
use crate::reading::domains::DomainCounts;
use crate::reading::group::{GroupId, Groups, TermKind};
use crate::reading::node::NodeState;
use crate::reading::shapes::Shapes;

/// Every pod that stands on a node, alike ones together.
pub(crate) struct BoundShapes {
    kinds: Vec<BoundShape>,
    /// Of each node of the problem the kinds of its pods, those that are going away left out.
    by_node: Vec<Vec<u32>>,
}

/// Pods of one shape that stand on nodes.
struct BoundShape {
    namespace: String,
    labels: LabelSet,
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
    /// Reads every shape that stands on a node, and makes groups of its anti-affinity.
    pub(crate) fn read(problem: &PlacementProblem, reader: &mut ClassReader<'_, '_>) -> Self {
        let mut shapes = Shapes::default();
        let mut by_node = Vec::with_capacity(problem.nodes.len());
        for node in &problem.nodes {
            let staying = node.pods.iter().filter(|pod| !pod.is_leaving);
            let kinds = staying.map(|pod| {
                u32::try_from(shapes.number(&pod.pod.shape)).expect("fewer than 2³² shapes")
            });
            by_node.push(kinds.collect());
        }
        let mut kinds = Vec::new();
        for shape in shapes.iter() {
            let mut apart = Vec::new();
            for term in &shape.anti_affinity.required {
                let context = &mut reader.context;
                apart.push(reader.groups.of_term(shape, term, TermKind::AntiAffinity, context));
            }
            let labels = reader.labels(shape);
            let namespace = shape.namespace.clone();
            kinds.push(BoundShape { namespace, labels, matched: BitSet::new(), apart });
        }
        Self { kinds, by_node }
    }

    /// Finds the groups they count in, once all are known.
    pub(crate) fn match_groups(&mut self, groups: &Groups) {
        for shape in &mut self.kinds {
            shape.matched = groups.matching(&shape.namespace, &shape.labels);
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
        for kind in &self.by_node[node.node] {
            let shape = &self.kinds[*kind as usize];
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
