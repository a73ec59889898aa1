//! A cluster, read and numbered: what all questions about it share.

use std::collections::BTreeMap;

use kerf_model::node::BoundPod;
use kerf_model::pod::Pod;
use kerf_model::selector::{LabelSet, Namespace};
use kerf_model::taint::{Taint, TaintEffect, TaintVocabulary};
use kerf_model::vocabulary::{KeySet, Vocabulary};

use crate::packing::pack_state::PackState;
use crate::problem::Problem;
use crate::reading::class::{Class, ClassReader};
use crate::reading::daemon::read_daemons;
use crate::reading::demand::KnownDemands;
use crate::reading::domains::DomainCounts;
use crate::reading::group::{Context, Groups};
use crate::reading::machine::{MachineReader, Machines};
use crate::reading::node::{NodeState, read_nodes};
use crate::reading::occupancy::HostGroups;
use crate::reading::shapes::Shapes;
use crate::reading::tenants::Tenants;
use crate::reading::universe::Surveyor;
use crate::units::Units;

/// Whether pods that stand on nodes may need another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// They stay where they are; only what they are to others is read.
    Stays,
    /// A question may take their node away.
    MayMove,
}

/// A problem with everything read and numbered.
pub(crate) struct Base<'p> {
    pub(crate) problem: &'p Problem,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) well_known: KeySet,
    pub(crate) units: Units,
    pub(crate) groups: Groups,
    pub(crate) hosts: HostGroups,
    pub(crate) machines: Machines,
    pub(crate) classes: Vec<Class>,
    /// The shapes of the classes.
    pub(crate) shapes: Shapes,
    /// The pods without a place, by class; the oldest first. Classes without any come after.
    pub(crate) waiting: Vec<Vec<usize>>,
    pub(crate) nodes: Vec<NodeState>,
    pub(crate) tenants: Tenants,
    pub(crate) demands: KnownDemands,
    pub(crate) counts: DomainCounts,
    /// Of each group how many matching pods stand anywhere.
    pub(crate) standing: Vec<u32>,
    pub(crate) state: PackState,
}

impl<'p> Base<'p> {
    /// Reads a problem.
    pub(crate) fn read(problem: &'p Problem, standing: Standing) -> Self {
        let rules = &problem.settings.label_rules;
        let normalization = rules.normalization();
        let mut vocabulary = Vocabulary::new();
        let well_known = rules.well_known_ids(&mut vocabulary);
        let (mut units, mut taints) = (Units::default(), TaintVocabulary::new());
        let mut reader = MachineReader {
            vocabulary: &mut vocabulary,
            normalization,
            units: &mut units,
            taints: &mut taints,
            well_known: &well_known,
        };
        let daemons = read_daemons(problem, &mut reader);
        let machines = reader.read(problem, &daemons);
        let nodes = read_nodes(problem, &daemons, &mut reader);
        let namespaces = read_namespaces(problem, &mut vocabulary);
        let mut groups = Groups::default();
        let mut class_reader = ClassReader {
            context: Context {
                vocabulary: &mut vocabulary,
                normalization,
                namespaces: &namespaces,
            },
            groups: &mut groups,
            units: &mut units,
            taints: &taints,
            preferences: problem.settings.preferences,
            soft_taints: has_soft_taints(problem),
        };
        let mut shapes = Shapes::default();
        let waiting = waiting(problem, &mut shapes);
        if standing == Standing::MayMove {
            let standing = problem.nodes.iter().flat_map(|node| &node.pods);
            for pod in standing.filter(|pod| is_displaceable(pod)) {
                shapes.number(&pod.pod.shape);
            }
        }
        let classes = shapes.iter().map(|shape| class_reader.read(shape.clone())).collect();
        let tenants = Tenants::read(problem, &mut class_reader);
        let hosts = HostGroups::of(&groups);
        let state = PackState::new(&machines, groups.len());
        let mut base = Self {
            problem,
            vocabulary,
            well_known,
            units,
            standing: vec![0; groups.len()],
            groups,
            hosts,
            machines,
            classes,
            shapes,
            waiting,
            nodes,
            tenants,
            demands: KnownDemands::default(),
            counts: DomainCounts::default(),
            state,
        };
        base.match_groups();
        base.count_tenants();
        base
    }

    /// Finds out who counts in which group, once all groups are known.
    fn match_groups(&mut self) {
        for class in &mut self.classes {
            class.match_groups(&self.groups);
        }
        self.tenants.match_groups(&self.groups);
        self.groups.see_who_counts(&all_taints(self.problem));
        let mut surveyor =
            Surveyor::new(self.problem, &self.machines, &self.nodes, &self.vocabulary);
        self.counts = DomainCounts::new(self.groups.iter().map(|(_, group)| surveyor.of(group)));
    }

    fn count_tenants(&mut self) {
        let (groups, counts) = (&self.groups, &mut self.counts);
        for node in &mut self.nodes {
            let mut on_node = std::mem::take(&mut node.room.occupancy);
            self.tenants.marks(node, groups, self.problem, &self.vocabulary, |mark| {
                self.standing[mark.group] += u32::from(mark.matches);
                if groups.get(mark.group).is_hostname() {
                    on_node.note_existing(mark.group, mark.matches, mark.carries);
                } else {
                    mark.count(node, groups, counts, 1);
                }
            });
            node.room.occupancy = on_node;
        }
        self.state.started = self.standing.iter().map(|count| *count > 0).collect();
    }
}

/// The pods without a place, by shape; the oldest first.
fn waiting(problem: &Problem, shapes: &mut Shapes) -> Vec<Vec<usize>> {
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

fn read_namespaces(problem: &Problem, vocabulary: &mut Vocabulary) -> Vec<Namespace> {
    let read = |(name, labels): (&String, &BTreeMap<String, String>)| {
        let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        Namespace { name: name.clone(), labels: LabelSet::intern(labels, vocabulary) }
    };
    problem.namespaces.iter().map(read).collect()
}

fn all_taints(problem: &Problem) -> Vec<Taint> {
    let of_pools = problem.pools.iter().flat_map(|pool| &pool.pool.template.spec.taints);
    let of_nodes = problem.nodes.iter().flat_map(|node| &node.taints);
    let mut taints: Vec<Taint> = of_pools.chain(of_nodes).cloned().collect();
    taints.sort_unstable();
    taints.dedup();
    taints
}

fn has_soft_taints(problem: &Problem) -> bool {
    let mut taints = problem.pools.iter().flat_map(|pool| &pool.pool.template.spec.taints);
    taints.any(|taint| taint.effect == TaintEffect::PreferNoSchedule)
}
