//! What was read of earlier problems, kept for the next.
//!
//! Numbers are given in the order names are met, and that order decides between answers that are
//! equally good. So what was read is kept only where a new reader would have put the names in the
//! same order: as long as pools, instance types and daemons are the same, and the nodes there are
//! now mention labels and resources in the order in which these were numbered.

use std::sync::Arc;

use kerf_model::labels::LabelRules;
use kerf_model::node::Node;
use kerf_model::pod::PodShape;
use kerf_model::taint::TaintVocabulary;
use kerf_model::vocabulary::{KeySet, Vocabulary};

use crate::limits::{CancelFlag, Effort, Limits};
use crate::problem::{PlacementProblem, PoolWithTypes};
use crate::reading::base::{Base, BoundPods};
use crate::reading::cluster::Cluster;
use crate::reading::daemon::read_daemons;
use crate::reading::instance_type::{InstanceTypeReader, InstanceTypes};
use crate::reading::node::{NodeReader, ReadNode, filling_order};
use crate::reading::node_kind::{NodeKind, NodeKinds, NumberedBefore, are_numbered_in_order};
use crate::reading::shape_table::ShapeTable;
use crate::solution::Solution;
use crate::units::Units;

/// Keeps what was read of nodes, pools and instance types between solves. The answer to a problem is
/// the same with any cache; only the time differs.
#[derive(Default)]
pub struct SolverCache {
    kept: Option<Kept>,
}

/// Host names, shapes and kinds of nodes that are gone stay numbered; with so many more than are in
/// use everything is read anew.
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
    kinds: NodeKinds,
    numbered_before: NumberedBefore,
    cluster: Arc<Cluster>,
    /// Nodes that were read and are gone.
    stale: usize,
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
    pub(crate) fn read(&mut self, problem: &PlacementProblem) -> (&Kept, Arc<Cluster>) {
        let known = self.kept.take().filter(|kept| kept.serves(problem));
        let reused = known.and_then(|mut kept| kept.update(problem).then_some(kept));
        let kept = self.kept.insert(reused.unwrap_or_else(|| {
            let mut kept = Kept::new(problem);
            kept.read_nodes(problem);
            kept
        }));
        let cluster = kept.cluster.clone();
        (kept, cluster)
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
            numbered_before: NumberedBefore::of(&vocabulary, units.len()),
            vocabulary,
            pod_labels: Vocabulary::new(),
            well_known,
            units,
            taints,
            instance_types,
            shapes: ShapeTable::default(),
            kinds: NodeKinds::default(),
            cluster: Arc::default(),
            stale: 0,
            label_rules,
        }
    }

    /// Whether pools, instance types, daemons and label rules are those that were read.
    fn serves(&self, problem: &PlacementProblem) -> bool {
        // Whoever watches pools gets each anew when its status changes, which is every few seconds.
        let same_pool = |(known, pool): (&PoolWithTypes, &PoolWithTypes)| {
            is_same(&known.pool, &pool.pool)
                && Arc::ptr_eq(&known.instance_types, &pool.instance_types)
        };
        let held = self.stale + self.shapes.held() + self.kinds.len();
        self.pools.len() == problem.pools.len()
            && self.pools.iter().zip(&problem.pools).all(same_pool)
            && self.daemons.len() == problem.daemons.len()
            && self.daemons.iter().zip(&problem.daemons).all(|(a, b)| is_same(a, b))
            && self.label_rules == problem.settings.label_rules
            && held <= STALE_MAX + 3 * problem.nodes.len()
    }

    /// Reads the nodes that are new. False if a reader that starts anew would give numbers in
    /// another order.
    fn update(&mut self, problem: &PlacementProblem) -> bool {
        if self.cluster.lists(&problem.nodes) {
            return true;
        }
        let before = self.cluster.clone();
        self.read_nodes(problem);
        let kinds = |cluster: &Cluster| -> Vec<u32> {
            cluster.kinds.iter().map(|members| members.kind.number).collect()
        };
        kinds(&before) == kinds(&self.cluster) || self.is_numbered_in_order()
    }

    fn is_numbered_in_order(&self) -> bool {
        let kinds = self.cluster.kinds.iter().map(|members| -> &NodeKind { &members.kind });
        let known = (self.vocabulary.key_count(), self.units.len());
        are_numbered_in_order(kinds, &self.numbered_before, known)
    }

    /// Reads the nodes of a problem, each in its turn, unless it was there before.
    fn read_nodes(&mut self, problem: &PlacementProblem) {
        let order = filling_order(problem);
        let mut read = self.known_nodes(&problem.nodes);
        let Self { vocabulary, units, taints, shapes, pod_labels, kinds, .. } = self;
        let mut reader = InstanceTypeReader {
            vocabulary,
            normalization: self.label_rules.normalization(),
            units,
            taints,
            well_known: &self.well_known,
        };
        let daemons = read_daemons(&problem.daemons, &mut reader);
        let (pools, daemons) = (&problem.pools[..], &daemons[..]);
        let mut reader = NodeReader { pools, daemons, reader, kinds, shapes, pod_labels };
        for place in order.iter().copied() {
            let node = &problem.nodes[place];
            read[place].get_or_insert_with(|| Arc::new(reader.read(node)));
        }
        let read = read.into_iter().flatten().collect();
        let cluster = Cluster::new(&problem.nodes, order, read, shapes, pools.len());
        self.cluster = Arc::new(cluster);
    }

    /// What is known of each of these nodes. Both lists are mostly in the order of names, so one
    /// walk over both finds nearly all; a node that is missed is read again.
    fn known_nodes(&mut self, nodes: &[Arc<Node>]) -> Vec<Option<Arc<ReadNode>>> {
        let before = &self.cluster;
        let mut place = 0;
        let mut found = Vec::with_capacity(nodes.len());
        let mut known = 0;
        for node in nodes {
            let is_behind = |known: &Arc<Node>| !Arc::ptr_eq(known, node) && known.name < node.name;
            while before.listed.get(place).is_some_and(is_behind) {
                place += 1;
            }
            let same = before.listed.get(place).is_some_and(|known| Arc::ptr_eq(known, node));
            found.push(same.then(|| before.read_of(place).clone()));
            known += usize::from(same);
            place += usize::from(same);
        }
        self.stale += before.listed.len() - known;
        found
    }
}

fn is_same<T: PartialEq>(one: &Arc<T>, other: &Arc<T>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}
