//! One what-if about a cluster: where the waiting pods go, and those of nodes that are taken away.

use std::borrow::Cow;

use kerf_model::bitset::BitSet;
use kerf_model::requirement::Requirement;
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;

use crate::limits::Limits;
use crate::packing::item::{PackingContext, Pins};
use crate::packing::min_values::KnownOpenTypes;
use crate::packing::pack_state::PackState;
use crate::problem::MinValuesPolicy;
use crate::reading::base::{Base, is_displaceable, oldest_first};
use crate::reading::demand::Demands;
use crate::reading::domains::DomainCounts;
use crate::reading::group::Rule;
use crate::residual::Onto;
use crate::residual::left::Left;
use crate::solution::Displaced;
use crate::solving::nodes::Nodes;

/// A what-if, and how far its answer is.
pub(crate) struct Solver<'b> {
    pub(crate) base: &'b Base<'b>,
    pub(crate) limits: &'b Limits,
    /// The pods to be placed, by class; the oldest first. Displaced pods are numbered after those
    /// of the problem. The order of the classes is that of their first pods, as if the problem had
    /// been written that way: it decides between classes of one size.
    pub(crate) members: Vec<(usize, Cow<'b, [usize]>)>,
    pub(crate) displaced: Vec<Displaced>,
    /// The groups that some of them must stand near.
    pub(crate) followed: BitSet,
    pub(crate) nodes: Nodes<'b>,
    pub(crate) demands: Demands,
    known_open_types: KnownOpenTypes,
    pub(crate) counts: DomainCounts,
    pub(crate) state: PackState,
    /// Whether nodes there are may take pods.
    pub(crate) onto: Onto,
}

impl<'b> Solver<'b> {
    /// Asks about the cluster without some of its nodes, given by their index in the problem and in
    /// order.
    pub(crate) fn without(base: &'b Base<'b>, gone: &[usize], limits: &'b Limits) -> Self {
        let waiting = base.waiting.iter().enumerate();
        let mut solver = Self {
            base,
            limits,
            members: waiting.map(|(class, pods)| (class, Cow::Borrowed(&pods[..]))).collect(),
            displaced: Vec::new(),
            followed: BitSet::new(),
            nodes: Nodes::of(&base.cluster, &base.counted),
            demands: Demands::default(),
            known_open_types: KnownOpenTypes::default(),
            counts: base.counts.clone(),
            state: base.state.clone(),
            onto: Onto::AnyNode,
        };
        if !gone.is_empty() {
            solver.take_away(gone, base.bound_pods.clone());
        }
        solver.followed = solver.followed();
        solver
    }

    /// Asks about what is left of a cluster, without some more of its nodes. The pods that wait have
    /// their places there already.
    pub(crate) fn over(left: &'b Left<'b>, gone: &[usize], onto: Onto, limits: &'b Limits) -> Self {
        let base = left.base;
        let mut solver = Self {
            base,
            limits,
            members: Vec::new(),
            displaced: Vec::new(),
            followed: BitSet::new(),
            nodes: Nodes::over(&base.cluster, &base.counted, left.changed()),
            demands: Demands::default(),
            known_open_types: KnownOpenTypes::default(),
            counts: left.counts.clone(),
            state: left.state.clone(),
            onto,
        };
        solver.take_away(gone, left.bound_pods.clone());
        solver.followed = solver.followed();
        solver
    }

    /// What packing reads.
    pub(crate) fn context(&self) -> PackingContext<'_> {
        self.context_of(None)
    }

    /// What packing reads where only pools of one weight may get nodes.
    pub(crate) fn context_of(&self, weight: Option<u32>) -> PackingContext<'_> {
        PackingContext {
            weight,
            classes: &self.base.classes,
            groups: &self.base.groups,
            hosts: &self.base.hosts,
            instance_types: &self.base.instance_types,
            demands: &self.demands,
            vocabulary: &self.base.vocabulary,
            well_known: &self.base.well_known,
            best_effort_min_values: self.base.problem.settings.min_values
                == MinValuesPolicy::BestEffort,
            known_open_types: &self.known_open_types,
            limits: self.limits,
            options_max: self.base.problem.settings.instance_type_options_max,
        }
    }

    /// Takes nodes away and adds their pods to those that need a place.
    fn take_away(&mut self, gone: &[usize], mut bound_pods: Vec<u32>) {
        for index in gone.iter().map(|place| self.base.cluster.index_of(*place)) {
            self.nodes.remove(index);
            self.base.uncount_node(index, &mut self.counts, &mut bound_pods);
            self.base.give_back(index, &mut self.state);
        }
        self.state.started = bound_pods.iter().map(|count| *count > 0).collect();
        self.displace(gone);
    }

    /// Adds the pods of nodes to those that need a place.
    fn displace(&mut self, gone: &[usize]) {
        let problem = self.base.problem;
        for node in gone.iter().copied() {
            let pods = problem.nodes[node].pods.iter().enumerate();
            for (pod, bound) in pods.filter(|(_, bound)| is_displaceable(bound)) {
                let number = problem.pods.len() + self.displaced.len();
                self.displaced.push(Displaced { node, pod });
                let class = self.base.shapes.known(&bound.pod.shape);
                let class = class.expect("every shape that may move was read");
                match self.members.iter_mut().find(|(known, _)| *known == class) {
                    Some((_, pods)) => pods.to_mut().push(number),
                    None => self.members.push((class, vec![number].into())),
                }
            }
        }
        let displaced = &self.displaced;
        for (_, pods) in self.members.iter_mut().filter(|(_, pods)| matches!(pods, Cow::Owned(_))) {
            oldest_first(pods.to_mut(), |number| match number.checked_sub(problem.pods.len()) {
                None => &problem.pods[number],
                Some(place) => displaced[place].of(problem),
            });
        }
    }

    fn followed(&self) -> BitSet {
        let mut followed = BitSet::new();
        for (class, _) in &self.members {
            let variants = &self.base.classes[*class].variants;
            for group in variants.iter().flat_map(|variant| variant.groups.iter().copied()) {
                if self.base.groups.get(group).rule == Rule::Affinity {
                    followed.insert(u32::try_from(group).expect("a group's index"));
                }
            }
        }
        followed
    }
}

impl Base<'_> {
    /// Takes a node and its pods out of counts.
    pub(crate) fn uncount_node(
        &self,
        index: usize,
        counts: &mut DomainCounts,
        bound_pods: &mut [u32],
    ) {
        let node = self.cluster.read(index);
        self.bound_shapes.memberships(node, &self.groups, &self.vocabulary, |membership| {
            bound_pods[membership.group] -= u32::from(membership.matches);
            if !self.groups.get(membership.group).is_hostname() {
                membership.count(node, &self.groups, counts, -1);
            }
        });
        for (id, group) in self.groups.iter().filter(|(_, group)| !group.is_hostname()) {
            if let Some(domain) = node.label(group.key)
                && counts.depends_on_nodes(id, domain)
                && group.counts_node(node, &self.vocabulary)
            {
                counts.lose_node(id, domain);
            }
        }
    }

    /// Returns what a node takes of its pool's limits.
    pub(crate) fn give_back(&self, index: usize, state: &mut PackState) {
        let node = self.cluster.read(index);
        let Some(pool) = node.pool else { return };
        let templates = self.instance_types.templates.iter();
        for (place, _) in templates.enumerate().filter(|(_, template)| template.pool == pool) {
            state.give_back(place, &node.capacity);
        }
    }
}

/// Requirements that pin keys to values.
pub(crate) fn pinned(base: &Requirements, pins: &Pins, vocabulary: &Vocabulary) -> Requirements {
    let mut requirements = base.clone();
    for (key, value) in pins {
        requirements.add(Requirement::equal(*key, *value), vocabulary);
    }
    requirements
}
