//! From a problem in words to a solution in words.

use kerf_model::pod::PodShape;
use kerf_model::requirement::Requirement;
use kerf_model::requirements::Requirements;
use kerf_model::selector::{LabelSet, Namespace};
use kerf_model::taint::{Taint, TaintEffect, TaintVocabulary};
use kerf_model::vocabulary::{KeySet, Vocabulary};
use std::sync::Arc;

use crate::class::{Class, ClassReader, group_by_shape};
use crate::daemon::read_daemons;
use crate::demand::Demands;
use crate::domains::DomainCounts;
use crate::group::{Context, GroupId, Groups, Nearness};
use crate::item::World;
use crate::machine::{MachineReader, Machines};
use crate::node::{NodeState, read_nodes};
use crate::occupancy::HostGroups;
use crate::pack::PackState;
use crate::problem::{MinValuesPolicy, Problem};
use crate::units::Units;
use crate::universe::universe;

/// A problem with everything read and numbered.
pub(crate) struct Solver<'p> {
    pub(crate) problem: &'p Problem,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) well_known: KeySet,
    pub(crate) units: Units,
    pub(crate) groups: Groups,
    pub(crate) hosts: HostGroups,
    pub(crate) machines: Machines,
    pub(crate) classes: Vec<Class>,
    pub(crate) nodes: Vec<NodeState>,
    pub(crate) demands: Demands,
    pub(crate) counts: DomainCounts,
    pub(crate) state: PackState,
}

impl<'p> Solver<'p> {
    /// Reads a problem.
    pub(crate) fn read(problem: &'p Problem) -> Self {
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
        let mut nodes = read_nodes(problem, &daemons, &mut reader);
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
        let mut classes: Vec<Class> = group_by_shape(&problem.pods)
            .into_iter()
            .map(|(shape, pods)| class_reader.read(shape, pods))
            .collect();
        let bound = read_bound(problem, &mut class_reader);
        for class in &mut classes {
            class.matched = groups.matching(&class.shape.namespace, &class.labels);
        }
        groups.set_domains(&all_taints(problem), |key, filter| {
            universe(key, filter, problem, &machines, &nodes, &vocabulary)
        });
        let hosts = HostGroups::of(&groups);
        let mut counts = DomainCounts::new(&groups);
        let mut started = vec![false; groups.len()];
        count_bound(problem, &bound, &groups, &mut nodes, &mut counts, &mut started, &vocabulary);
        let state = PackState {
            limits: machines.templates.iter().map(|template| template.limits.clone()).collect(),
            nodes_left: machines.templates.iter().map(|template| template.nodes_left).collect(),
            reservations: machines.reservations.iter().map(|(_, left)| *left).collect(),
            started,
        };
        let demands = Demands::default();
        Self {
            problem,
            vocabulary,
            well_known,
            units,
            groups,
            hosts,
            machines,
            classes,
            nodes,
            demands,
            counts,
            state,
        }
    }

    /// What packing reads.
    pub(crate) fn world(&self) -> World<'_> {
        World {
            classes: &self.classes,
            groups: &self.groups,
            hosts: &self.hosts,
            machines: &self.machines,
            demands: &self.demands,
            vocabulary: &self.vocabulary,
            well_known: &self.well_known,
            best_effort_min_values: self.problem.settings.min_values == MinValuesPolicy::BestEffort,
            options_max: self.problem.settings.instance_type_options_max,
        }
    }
}

/// A pod shape that stands on nodes: the groups it matches and those whose rule it has.
struct BoundShape {
    shape: Arc<PodShape>,
    labels: LabelSet,
    apart: Vec<GroupId>,
}

/// Every shape that stands on a node. Its anti-affinity keeps others away, so it makes groups too.
fn read_bound(problem: &Problem, reader: &mut ClassReader<'_, '_>) -> Vec<Vec<BoundShape>> {
    let mut bound = Vec::new();
    for node in &problem.nodes {
        let mut shapes = Vec::new();
        for pod in node.pods.iter().filter(|pod| !pod.is_leaving) {
            let shape = pod.pod.shape.clone();
            let labels = shape.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            let labels = LabelSet::intern(labels, reader.context.vocabulary);
            let mut apart = Vec::new();
            for term in &shape.anti_affinity.required {
                apart.push(reader.groups.of_term(
                    &shape,
                    term,
                    Nearness::Apart,
                    &mut reader.context,
                ));
            }
            shapes.push(BoundShape { shape, labels, apart });
        }
        bound.push(shapes);
    }
    bound
}

fn count_bound(
    problem: &Problem,
    bound: &[Vec<BoundShape>],
    groups: &Groups,
    nodes: &mut [NodeState],
    counts: &mut DomainCounts,
    started: &mut [bool],
    vocabulary: &Vocabulary,
) {
    for node in nodes {
        let taints = &problem.nodes[node.node].taints;
        for pod in &bound[node.node] {
            let matched = groups.matching(&pod.shape.namespace, &pod.labels);
            for (id, group) in groups.iter() {
                let carries = pod.apart.contains(&id);
                let matches = matched.contains(u32::try_from(id).expect("a group's index"))
                    && group.counts_node(&node.labels, taints, vocabulary);
                if !matches && !carries {
                    continue;
                }
                started[id] |= matches;
                if group.is_hostname() {
                    node.occupancy.note_existing(id, matches, carries);
                } else if let Some(domain) =
                    node.labels.find(group.key).and_then(Requirement::single_value)
                {
                    counts.note_existing(id, domain, matches, carries);
                }
            }
        }
    }
}

fn read_namespaces(problem: &Problem, vocabulary: &mut Vocabulary) -> Vec<Namespace> {
    let read = |(name, labels): (&String, &std::collections::BTreeMap<String, String>)| {
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
    let taints = problem.pools.iter().flat_map(|pool| &pool.pool.template.spec.taints);
    taints.clone().any(|taint| taint.effect == TaintEffect::PreferNoSchedule)
}

/// Requirements that pin keys to values.
pub(crate) fn pinned(
    base: &Requirements,
    pins: &crate::item::Pins,
    vocabulary: &Vocabulary,
) -> Requirements {
    let mut requirements = base.clone();
    for (key, value) in pins {
        requirements.add(Requirement::equal(*key, *value), vocabulary);
    }
    requirements
}
