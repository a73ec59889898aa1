//! Rules about other pods: spreads, affinities and anti-affinities, shared by all pods that have
//! the same one.

use std::collections::BTreeSet;

use kerf_model::bitset::BitSet;
use kerf_model::labels::Normalization;
use kerf_model::pod::{PodAffinityTerm, PodShape, SpreadConstraint};
use kerf_model::requirement::RequirementEntry;
use kerf_model::requirements::Requirements;
use kerf_model::selector::{LabelSelector, LabelSet, Namespace, Selector};
use kerf_model::taint::{Taint, TaintEffect, Toleration, untolerated};
use kerf_model::vocabulary::{KeyId, Vocabulary};

use crate::reading::node::ReadNode;
use crate::reading::node_kind::Asked;
use crate::reading::placement::PlacementReader;

/// The place of a group in [`Groups`].
pub(crate) type GroupId = usize;

/// What a group demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Domains differ by at most so much.
    Spread { max_skew: u32, min_domains: u32 },
    /// Stand where such a pod stands.
    Affinity,
    /// Stand where no such pod stands.
    AntiAffinity,
}

/// One rule about other pods.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) rule: Rule,
    pub(crate) key: KeyId,
    /// Whether pods that match must keep away from those that have the rule. A preference to be
    /// apart binds only the pod that has it.
    pub(crate) binds_others: bool,
    namespaces: BTreeSet<String>,
    selector: Selector,
    pub(crate) filter: Option<NodeFilter>,
    /// Whether a pod counts wherever it stands. Where that is not so, only pods that have the rule
    /// themselves surely do: they cannot stand on a node that does not count.
    pub(crate) counts_everywhere: bool,
    identity: Identity,
}

/// Which nodes count for a spread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeFilter {
    /// One of these must be met, if any are asked for.
    alternatives: Option<Vec<Requirements>>,
    /// Taints must be tolerated, if asked for.
    tolerations: Option<Vec<Toleration>>,
}

#[derive(Debug, PartialEq)]
enum Identity {
    Spread(SpreadConstraint, String, LabelSelector),
    Term(PodAffinityTerm, TermKind, BTreeSet<String>),
}

/// What an affinity term asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermKind {
    /// Stand near such pods.
    Affinity,
    /// Stand apart from such pods, and they from this one.
    AntiAffinity,
    /// Rather stand apart from such pods.
    PreferredAntiAffinity,
}

/// All groups of a problem.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    groups: Vec<Group>,
}

impl Groups {
    pub(crate) fn get(&self, id: GroupId) -> &Group {
        &self.groups[id]
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        self.groups.iter().enumerate()
    }

    /// The groups a pod with these labels counts in.
    pub(crate) fn matching(&self, namespace: &str, labels: &LabelSet) -> BitSet {
        let mut matching = BitSet::new();
        for (id, group) in self.iter() {
            if group.namespaces.contains(namespace) && group.selector.matches(labels) {
                matching.insert(u32::try_from(id).expect("fewer than 2³² groups"));
            }
        }
        matching
    }

    /// The group of a spread constraint of a pod.
    pub(crate) fn of_spread(
        &mut self,
        shape: &PodShape,
        spread: &SpreadConstraint,
        context: &mut Context<'_>,
    ) -> GroupId {
        let keys = spread.match_label_keys.iter().map(String::as_str);
        let selector =
            spread.selector.as_ref().map(|s| s.with_match_label_keys(keys, &shape.labels));
        let filter = NodeFilter {
            alternatives: if spread.honours_affinity {
                context.placement().alternatives(shape)
            } else {
                None
            },
            tolerations: spread.honours_taints.then(|| shape.tolerations.clone()),
        };
        let identity = Identity::Spread(
            SpreadConstraint {
                selector: None,
                match_label_keys: Vec::new(),
                required: true,
                ..spread.clone()
            },
            shape.namespace.clone(),
            selector.clone().unwrap_or_default(),
        );
        let known = self.groups.iter().position(|group| {
            group.identity == identity
                && group.filter.as_ref() == Some(&filter)
                && group.selector.problem().is_none() == selector.is_some()
        });
        if let Some(known) = known {
            return known;
        }
        let rule = Rule::Spread {
            max_skew: spread.max_skew,
            min_domains: spread.min_domains.unwrap_or(1),
        };
        let compiled = Selector::compile(selector.as_ref(), context.pod_labels);
        let key = context.key(&spread.topology_key);
        self.push(rule, key, [shape.namespace.clone()].into(), compiled, Some(filter), identity)
    }

    /// The group of an affinity or anti-affinity term of a pod.
    pub(crate) fn of_term(
        &mut self,
        shape: &PodShape,
        term: &PodAffinityTerm,
        kind: TermKind,
        context: &mut Context<'_>,
    ) -> GroupId {
        let namespaces =
            term.namespaces.resolve(&shape.namespace, context.namespaces, context.pod_labels);
        let identity = Identity::Term(
            PodAffinityTerm { namespaces: Default::default(), ..term.clone() },
            kind,
            namespaces.clone(),
        );
        if let Some(known) = self.groups.iter().position(|group| group.identity == identity) {
            return known;
        }
        let compiled = Selector::compile(term.selector.as_ref(), context.pod_labels);
        let key = context.key(&term.topology_key);
        let rule = if kind == TermKind::Affinity { Rule::Affinity } else { Rule::AntiAffinity };
        let id = self.push(rule, key, namespaces, compiled, None, identity);
        self.groups[id].binds_others = kind == TermKind::AntiAffinity;
        id
    }

    /// Finds out for each group whether every node counts. `taints` are those of every pool and
    /// node.
    pub(crate) fn see_who_counts(&mut self, taints: &[Taint]) {
        for group in &mut self.groups {
            let filter = group.filter.as_ref();
            group.counts_everywhere = filter
                .is_none_or(|filter| filter.alternatives.is_none() && filter.tolerates(taints));
        }
    }

    fn push(
        &mut self,
        rule: Rule,
        key: KeyId,
        namespaces: BTreeSet<String>,
        selector: Selector,
        filter: Option<NodeFilter>,
        identity: Identity,
    ) -> GroupId {
        let binds_others = false;
        self.groups.push(Group {
            rule,
            key,
            binds_others,
            namespaces,
            selector,
            filter,
            counts_everywhere: true,
            identity,
        });
        self.groups.len() - 1
    }
}

impl Group {
    pub(crate) fn is_hostname(&self) -> bool {
        self.key == KeyId::HOSTNAME
    }

    /// The pods that the rule speaks of, as their owner wrote it.
    pub(crate) fn selector_text(&self) -> String {
        let selector = match &self.identity {
            Identity::Spread(_, _, selector) => Some(selector),
            Identity::Term(term, _, _) => term.selector.as_ref(),
        };
        selector.map_or_else(|| "no labels at all".to_owned(), ToString::to_string)
    }

    /// Whether pods on a node count.
    pub(crate) fn counts_node(&self, node: &ReadNode, vocabulary: &Vocabulary) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.admits(node, vocabulary))
    }
}

impl NodeFilter {
    /// Whether every node is admitted, whatever its labels and taints.
    pub(crate) fn admits_all(&self) -> bool {
        self.alternatives.is_none() && self.tolerations.is_none()
    }

    pub(crate) fn admits(&self, node: &ReadNode, vocabulary: &Vocabulary) -> bool {
        let affine = self.alternatives.as_ref().is_none_or(|alternatives| {
            alternatives.iter().any(|wanted| node.meets(&Asked::of(wanted), vocabulary))
        });
        affine && self.tolerates(&node.kind.taint_list)
    }

    /// Whether it admits one node and not another of the same kind.
    pub(crate) fn names_hosts(&self) -> bool {
        let alternatives = self.alternatives.iter().flatten();
        alternatives.into_iter().any(|wanted| wanted.contains(KeyId::HOSTNAME))
    }

    /// Whether the taints keep no pod away. A taint that pods should merely rather avoid does not.
    pub(crate) fn tolerates(&self, taints: &[Taint]) -> bool {
        let hard = taints.iter().filter(|taint| taint.effect != TaintEffect::PreferNoSchedule);
        self.tolerations
            .as_ref()
            .is_none_or(|tolerations| untolerated(hard, tolerations).next().is_none())
    }
}

/// What reading groups needs to know.
pub(crate) struct Context<'a> {
    pub(crate) vocabulary: &'a mut Vocabulary,
    /// The labels of pods and namespaces, numbered apart from those of nodes.
    pub(crate) pod_labels: &'a mut Vocabulary,
    pub(crate) normalization: &'a Normalization,
    pub(crate) namespaces: &'a [Namespace],
}

impl Context<'_> {
    fn key(&mut self, text: &str) -> KeyId {
        let text = self.normalization.key(text);
        self.vocabulary.key(text)
    }

    /// Adds entries; nothing if one contradicts what was there.
    pub(crate) fn narrow(
        &mut self,
        requirements: &mut Requirements,
        entries: &[RequirementEntry],
    ) -> Option<()> {
        self.placement().narrow(requirements, entries)
    }

    fn placement(&mut self) -> PlacementReader<'_> {
        PlacementReader { normalization: self.normalization, vocabulary: self.vocabulary }
    }
}
