//! Pods that stand on nodes, as far as rules about other pods care.

use kerf_model::bitset::BitSet;
use kerf_model::requirement::Requirement;
use kerf_model::selector::LabelSet;
use kerf_model::vocabulary::Vocabulary;

use crate::problem::Problem;
use crate::reading::class::ClassReader;
use crate::reading::domains::DomainCounts;
use crate::reading::group::{GroupId, Groups, Nearness};
use crate::reading::node::NodeState;
use crate::reading::shapes::Shapes;

/// Every pod that stands on a node, alike ones together.
pub(crate) struct Tenants {
    kinds: Vec<Tenant>,
    /// Of each node of the problem the kinds of its pods, those that are going away left out.
    by_node: Vec<Vec<u32>>,
}

/// Pods of one shape that stand on nodes.
struct Tenant {
    namespace: String,
    labels: LabelSet,
    /// The groups they match.
    matched: BitSet,
    /// The groups whose rule they have: their anti-affinity keeps others away.
    apart: Vec<GroupId>,
}

/// What a pod on a node is to a group.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) group: GroupId,
    pub(crate) matches: bool,
    pub(crate) carries: bool,
}

impl Tenants {
    /// Reads every shape that stands on a node, and makes groups of its anti-affinity.
    pub(crate) fn read(problem: &Problem, reader: &mut ClassReader<'_, '_>) -> Self {
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
                apart.push(reader.groups.of_term(shape, term, Nearness::Apart, context));
            }
            let labels = reader.labels(shape);
            let namespace = shape.namespace.clone();
            kinds.push(Tenant { namespace, labels, matched: BitSet::new(), apart });
        }
        Self { kinds, by_node }
    }

    /// Finds the groups they count in, once all are known.
    pub(crate) fn match_groups(&mut self, groups: &Groups) {
        for tenant in &mut self.kinds {
            tenant.matched = groups.matching(&tenant.namespace, &tenant.labels);
        }
    }

    /// What each pod of a node is to each group it concerns.
    pub(crate) fn marks(
        &self,
        node: &NodeState,
        groups: &Groups,
        problem: &Problem,
        vocabulary: &Vocabulary,
        mut each: impl FnMut(Mark),
    ) {
        let taints = &problem.nodes[node.node].taints;
        for kind in &self.by_node[node.node] {
            let tenant = &self.kinds[*kind as usize];
            for group in tenant.matched.iter().map(|group| group as GroupId) {
                let matches = groups.get(group).counts_node(&node.labels, taints, vocabulary);
                let carries = tenant.apart.contains(&group);
                each(Mark { group, matches, carries });
            }
            for group in tenant.apart.iter().copied() {
                if !tenant.matched.contains(u32::try_from(group).expect("a group's index")) {
                    each(Mark { group, matches: false, carries: true });
                }
            }
        }
    }
}

impl Mark {
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
