//! What was read of earlier problems, kept for the next.
//!
//! Numbers are given in the order names are met, and that order decides between answers that are
//! equally good. So what was read is kept only where a new reader would have given the same numbers:
//! as long as pools, instance types and daemons are the same, and no node that changed, came or went
//! was the first with some label, taint or resource.

use std::sync::Arc;

use kerf_model::labels::LabelRules;
use kerf_model::node::Node;
use kerf_model::pod::PodShape;
use kerf_model::taint::TaintVocabulary;
use kerf_model::vocabulary::{KeySet, Vocabulary};
use rustc_hash::FxHashMap;

use crate::limits::{CancelFlag, Effort, Limits};
use crate::problem::{PlacementProblem, PoolWithTypes};
use crate::reading::base::{Base, BoundPods};
use crate::reading::daemon::read_daemons;
use crate::reading::instance_type::{InstanceTypeReader, InstanceTypes};
use crate::reading::node::{NodeState, ReadNode, filling_order, read_node};
use crate::reading::shape_table::ShapeTable;
use crate::solution::Solution;
use crate::units::Units;

/// Keeps what was read of nodes, pools and instance types between solves. The answer to a problem is
/// the same with any cache; only the time differs.
#[derive(Default)]
pub struct SolverCache {
    kept: Option<Kept>,
}

/// Host names and shapes of nodes that are gone stay numbered; with so many more than are in use
/// everything is read anew.
const STALE_MAX: usize = 20_000;

/// What was read of the problems before.
pub(crate) struct Kept {
    label_rules: LabelRules,
    daemons: Vec<Arc<PodShape>>,
    pools: Vec<PoolWithTypes>,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) pod_labels: Vocabulary,
    pub(crate) well_known: KeySet,
    pub(crate) units: Units,
    pub(crate) taints: TaintVocabulary,
    pub(crate) instance_types: Arc<InstanceTypes>,
    pub(crate) shapes: ShapeTable,
    /// By address; the node is held, so that its address stays its own.
    nodes: FxHashMap<usize, KeptNode>,
    stale: usize,
}

struct KeptNode {
    node: Arc<Node>,
    read: Arc<ReadNode>,
    /// Whether it was the first with some label, taint or resource.
    is_first: bool,
    /// Whether it is in the problem that is being read.
    is_in_use: bool,
}

impl SolverCache {
    /// As [`solve_within`](crate::solve_within).
    #[must_use]
    pub fn solve_within(
        &mut self,
        problem: &PlacementProblem,
        effort: Effort,
        cancel: &CancelFlag,
    ) -> Option<Solution> {
        let limits = Limits::new(effort, cancel.clone());
        let what_if = Base::read(problem, BoundPods::Stay, self).without(&[], &limits);
        (!limits.is_cancelled()).then_some(what_if.solution)
    }

    /// Reads the nodes of a problem, and whatever else is not known yet.
    pub(crate) fn read(&mut self, problem: &PlacementProblem) -> (&Kept, Vec<NodeState>) {
        let order = filling_order(problem);
        let known = self.kept.take().filter(|kept| kept.serves(problem));
        let reused = known.and_then(|mut kept| kept.update(problem, &order).then_some(kept));
        let kept = self.kept.insert(reused.unwrap_or_else(|| {
            let mut kept = Kept::new(problem);
            kept.read_missing(problem, &order);
            kept
        }));
        let state = |index: usize| NodeState::new(index, kept.read_of(&problem.nodes[index]));
        let nodes = order.into_iter().map(state).collect();
        (kept, nodes)
    }
}

impl Kept {
    /// Reads everything but the nodes.
    fn new(problem: &PlacementProblem) -> Self {
        let label_rules = problem.settings.label_rules.clone();
        let mut vocabulary = Vocabulary::new();
        let well_known = label_rules.well_known_ids(&mut vocabulary);
        let (mut units, mut taints) = (Units::default(), TaintVocabulary::new());
        let mut reader = InstanceTypeReader {
            vocabulary: &mut vocabulary,
            normalization: label_rules.normalization(),
            units: &mut units,
            taints: &mut taints,
            well_known: &well_known,
        };
        let daemons = read_daemons(&problem.daemons, &mut reader);
        let instance_types = Arc::new(reader.read(problem, &daemons));
        Self {
            daemons: problem.daemons.clone(),
            pools: problem.pools.clone(),
            vocabulary,
            pod_labels: Vocabulary::new(),
            well_known,
            units,
            taints,
            instance_types,
            shapes: ShapeTable::default(),
            nodes: FxHashMap::default(),
            stale: 0,
            label_rules,
        }
    }

    /// Whether pools, instance types, daemons and label rules are those that were read.
    fn serves(&self, problem: &PlacementProblem) -> bool {
        let same_pool = |(known, pool): (&PoolWithTypes, &PoolWithTypes)| {
            Arc::ptr_eq(&known.pool, &pool.pool)
                && Arc::ptr_eq(&known.instance_types, &pool.instance_types)
        };
        self.pools.len() == problem.pools.len()
            && self.pools.iter().zip(&problem.pools).all(same_pool)
            && self.daemons.len() == problem.daemons.len()
            && self.daemons.iter().zip(&problem.daemons).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.label_rules == problem.settings.label_rules
            && self.stale + self.shapes.held() <= STALE_MAX + 2 * problem.nodes.len()
    }

    /// Reads the nodes that are new and drops those that are gone. False if that would give other
    /// numbers than reading everything anew.
    fn update(&mut self, problem: &PlacementProblem, order: &[usize]) -> bool {
        for node in &problem.nodes {
            if let Some(kept) = self.nodes.get_mut(&Arc::as_ptr(node).addr()) {
                kept.is_in_use = true;
            }
        }
        if self.nodes.values().any(|kept| kept.is_first && !kept.is_in_use) {
            return false;
        }
        let before = self.nodes.len();
        self.nodes.retain(|_, kept| std::mem::take(&mut kept.is_in_use));
        self.stale += before - self.nodes.len();
        !self.read_missing(problem, order)
    }

    /// Reads the nodes that are not known; answers whether one of them was the first with something.
    fn read_missing(&mut self, problem: &PlacementProblem, order: &[usize]) -> bool {
        let missing: Vec<&Arc<Node>> = order
            .iter()
            .map(|index| &problem.nodes[*index])
            .filter(|node| !self.nodes.contains_key(&Arc::as_ptr(node).addr()))
            .collect();
        if missing.is_empty() {
            return false;
        }
        let Self { vocabulary, units, taints, shapes, pod_labels, .. } = self;
        let mut reader = InstanceTypeReader {
            vocabulary,
            normalization: self.label_rules.normalization(),
            units,
            taints,
            well_known: &self.well_known,
        };
        let daemons = read_daemons(&problem.daemons, &mut reader);
        let mut any_first = false;
        for node in missing {
            let before = reader.growth();
            let read = read_node(node, &problem.pools, &daemons, &mut reader, |shape| {
                shapes.number(shape, pod_labels)
            });
            let is_first = reader.growth() != before;
            any_first |= is_first;
            let kept =
                KeptNode { node: node.clone(), read: Arc::new(read), is_first, is_in_use: false };
            self.nodes.insert(Arc::as_ptr(node).addr(), kept);
        }
        any_first
    }

    fn read_of(&self, node: &Arc<Node>) -> Arc<ReadNode> {
        let kept = &self.nodes[&Arc::as_ptr(node).addr()];
        debug_assert!(Arc::ptr_eq(&kept.node, node), "the address of a held node is its own");
        kept.read.clone()
    }
}
