//! A cluster, read and numbered: what all what-ifs about it share.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::node::BoundPod;
use kerf_model::pod::Pod;
use kerf_model::selector::{LabelSet, Namespace};
use kerf_model::taint::{Taint, TaintEffect, TaintVocabulary};
use kerf_model::vocabulary::{KeySet, Vocabulary};

use crate::packing::pack_state::PackState;
use crate::problem::PlacementProblem;
use crate::reading::bound_shapes::{BoundShapes, Membership};
use crate::reading::class::{Class, ClassReader};
use crate::reading::cluster::{Cluster, PoolUse};
use crate::reading::counted_nodes::CountedNodes;
use crate::reading::demand::{KnownDemands, Supply};
use crate::reading::domains::DomainCounts;
use crate::reading::group::{Context, Groups};
use crate::reading::instance_type::InstanceTypes;
use crate::reading::occupancy::HostGroups;
use crate::reading::shape_table::ShapeTable;
use crate::reading::shapes::Shapes;
use crate::reading::universe::UniverseBuilder;
use crate::solver_cache::SolverCache;
use crate::units::Units;

/// Whether pods that stand on nodes may need another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundPods {
    /// They stay where they are; only what they are to others is read.
    Stay,
    /// A what-if may take their node away.
    MayMove,
}

/// A problem with everything read and numbered.
pub(crate) struct Base<'p> {
    pub(crate) problem: &'p PlacementProblem,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) well_known: KeySet,
    pub(crate) units: Units,
    pub(crate) groups: Groups,
    pub(crate) hosts: HostGroups,
    pub(crate) instance_types: Arc<InstanceTypes>,
    pub(crate) classes: Vec<Class>,
    /// The shapes of the classes.
    pub(crate) shapes: Shapes,
    /// The pods without a place, by class; the oldest first. Classes without any come after.
    pub(crate) waiting: Vec<Vec<usize>>,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) counted: CountedNodes,
    pub(crate) bound_shapes: BoundShapes,
    pub(crate) demands: KnownDemands,
    pub(crate) counts: DomainCounts,
    /// Of each group how many matching pods stand anywhere.
    pub(crate) bound_pods: Vec<u32>,
    pub(crate) state: PackState,
}

impl<'p> Base<'p> {
    /// What demands are matched against.
    pub(crate) fn supply(&self) -> Supply<'_> {
        Supply {
            instance_types: &self.instance_types,
            cluster: &self.cluster,
            well_known: &self.well_known,
            vocabulary: &self.vocabulary,
            known: &self.demands,
        }
    }

    /// Reads a problem.
    pub(crate) fn read(
        problem: &'p PlacementProblem,
        bound_pods: BoundPods,
        cache: &mut SolverCache,
    ) -> Self {
        let (kept, cluster) = cache.read(problem);
        let (mut vocabulary, mut pod_labels) = (kept.vocabulary.clone(), kept.pod_labels.clone());
        let mut units = kept.units.clone();
        let namespaces = read_namespaces(problem, &mut pod_labels);
        let mut groups = Groups::default();
        let mut class_reader = ClassReader {
            context: Context {
                vocabulary: &mut vocabulary,
                pod_labels: &mut pod_labels,
                normalization: problem.settings.label_rules.normalization(),
                namespaces: &namespaces,
            },
            groups: &mut groups,
            units: &mut units,
            taints: &kept.taints,
            policy: problem.settings.preferences,
            soft_taints: has_soft_taints(problem),
        };
        let mut shapes = Shapes::default();
        let waiting = waiting(problem, &mut shapes);
        if bound_pods == BoundPods::MayMove {
            let bound_pods = problem.nodes.iter().flat_map(|node| &node.pods);
            for pod in bound_pods.filter(|pod| is_displaceable(pod)) {
                shapes.number(&pod.pod.shape);
            }
        }
        let classes = shapes.iter().map(|shape| class_reader.read(shape.clone())).collect();
        let bound_shapes = BoundShapes::read(&cluster, &kept.shapes, &mut class_reader);
        let hosts = HostGroups::of(&groups);
        let state = PackState::new(&kept.instance_types, groups.len());
        let mut base = Self {
            problem,
            vocabulary,
            well_known: kept.well_known.clone(),
            units,
            bound_pods: vec![0; groups.len()],
            groups,
            hosts,
            instance_types: kept.instance_types.clone(),
            classes,
            shapes,
            waiting,
            cluster,
            counted: CountedNodes::default(),
            bound_shapes,
            demands: KnownDemands::default(),
            counts: DomainCounts::default(),
            state,
        };
        base.take_limits();
        base.match_groups(&kept.shapes, &kept.taints);
        base.count_bound_pods();
        base
    }

    /// Takes what the nodes there are use of their pools' limits, and what is held beside them.
    fn take_limits(&mut self) {
        let problem = self.problem;
        for (index, template) in self.instance_types.templates.iter().enumerate() {
            if template.limits.is_empty() && template.nodes_max.is_none() {
                continue;
            }
            self.state.take(index, &self.cluster.used[template.pool]);
            let pool = problem.pools[template.pool].pool.name.as_str();
            if let Some(held) = problem.held.get(pool) {
                let capacity = self.units.offered(held);
                let nodes = self.units.id("nodes").and_then(|id| capacity.get(id.index()).copied());
                self.state.take(index, &PoolUse { nodes: nodes.unwrap_or(0), capacity });
            }
        }
    }

    /// Finds out who counts in which group, once all groups are known.
    fn match_groups(&mut self, shapes: &ShapeTable, taints: &TaintVocabulary) {
        for class in &mut self.classes {
            class.match_groups(&self.groups);
        }
        self.bound_shapes.match_groups(&self.cluster, shapes, &self.groups);
        self.groups.see_who_counts(&self.all_taints(taints));
        let mut universes = UniverseBuilder::new(
            self.problem,
            &self.instance_types,
            &self.cluster,
            &self.vocabulary,
        );
        self.counts = DomainCounts::new(self.groups.iter().map(|(_, group)| universes.of(group)));
    }

    /// The taints of every pool and node.
    fn all_taints(&self, taints: &TaintVocabulary) -> Vec<Taint> {
        let pools = self.problem.pools.iter();
        let of_pools = pools.flat_map(|pool| &pool.pool.template.spec.taints).cloned();
        let of_nodes = self.cluster.taints.iter().map(|id| taints.taint(id).clone());
        of_nodes.chain(of_pools).collect()
    }

    fn count_bound_pods(&mut self) {
        let Self { groups, counts, cluster, counted, bound_pods, .. } = self;
        self.bound_shapes.all_memberships(cluster, groups, &self.vocabulary, |node, membership| {
            let Membership { group, matches, carries } = membership;
            bound_pods[group] += u32::from(matches);
            if groups.get(group).is_hostname() {
                counted.occupancy_mut(node, cluster).note_existing(group, matches, carries);
            } else {
                membership.count(cluster.read(node), groups, counts, 1);
            }
        });
        self.state.started = self.bound_pods.iter().map(|count| *count > 0).collect();
    }
}

/// The pods without a place, by shape; the oldest first.
fn waiting(problem: &PlacementProblem, shapes: &mut Shapes) -> Vec<Vec<usize>> {
    let mut waiting: Vec<Vec<usize>> = Vec::new();
    for (index, pod) in problem.pods.iter().enumerate() {
        let shape = shapes.number(&pod.shape);
        if shape == waiting.len() {
            waiting.push(Vec::new());
        }
        waiting[shape].push(index);
    }
    for members in &mut waiting {
        oldest_first(members, |index| &problem.pods[index]);
    }
    waiting
}

/// Sorts pods of one class.
pub(crate) fn oldest_first<'a>(pods: &mut [usize], pod: impl Fn(usize) -> &'a Pod) {
    let age = |index: &usize| (pod(*index).created_at, pod(*index).uid.as_str(), *index);
    pods.sort_by(|a, b| age(a).cmp(&age(b)));
}

/// Whether a pod needs another place when its node goes. Daemons go with their node, and what is
/// going away anyway needs none.
pub(crate) fn is_displaceable(pod: &BoundPod) -> bool {
    !pod.is_daemon && !pod.is_leaving
}

fn read_namespaces(problem: &PlacementProblem, vocabulary: &mut Vocabulary) -> Vec<Namespace> {
    let read = |(name, labels): (&String, &BTreeMap<String, String>)| {
        let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        Namespace { name: name.clone(), labels: LabelSet::intern(labels, vocabulary) }
    };
    problem.namespaces.iter().map(read).collect()
}

fn has_soft_taints(problem: &PlacementProblem) -> bool {
    let mut taints = problem.pools.iter().flat_map(|pool| &pool.pool.template.spec.taints);
    taints.any(|taint| taint.effect == TaintEffect::PreferNoSchedule)
}
