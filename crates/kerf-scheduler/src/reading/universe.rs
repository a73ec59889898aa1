//! The domains of a key that exist or could.

use std::rc::Rc;

use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::vocabulary::{KeyId, ValueId, ValueSet, Vocabulary};
use rustc_hash::FxHashMap;

use crate::problem::{PlacementProblem, PoolWithTypes};
use crate::reading::cluster::{Cluster, KindMembers};
use crate::reading::group::{Group, NodeFilter};
use crate::reading::instance_type::{InstanceTypes, Template};

/// Where pods of a group could stand: what pools offer, and where nodes are that count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Universe {
    domains: ValueSet,
    /// Domains that no pool offers, with how many nodes that count are there.
    by_nodes: Vec<(ValueId, u32)>,
}

impl Universe {
    pub(crate) fn domains(&self) -> &ValueSet {
        &self.domains
    }

    /// Whether a domain is there only as long as its nodes are.
    pub(crate) fn depends_on_nodes(&self, domain: ValueId) -> bool {
        self.by_nodes.iter().any(|(known, _)| *known == domain)
    }

    /// Notes that a node that counted is gone.
    pub(crate) fn lose_node(&mut self, domain: ValueId) {
        let Some(place) = self.by_nodes.iter().position(|(known, _)| *known == domain) else {
            return;
        };
        self.by_nodes[place].1 -= 1;
        if self.by_nodes[place].1 == 0 {
            self.by_nodes.swap_remove(place);
            self.domains.remove(domain);
        }
    }

    fn add_nodes(&mut self, domain: ValueId, nodes: u32) {
        match self.by_nodes.iter_mut().find(|(known, _)| *known == domain) {
            _ if nodes == 0 => {}
            Some((_, count)) => *count += nodes,
            None if self.domains.contains(domain) => {}
            None => {
                self.by_nodes.push((domain, nodes));
                self.domains.insert(domain);
            }
        }
    }
}

/// Finds the universe of groups. Most groups of a key share one, so that is found once.
pub(crate) struct UniverseBuilder<'a> {
    problem: &'a PlacementProblem,
    instance_types: &'a InstanceTypes,
    cluster: &'a Cluster,
    vocabulary: &'a Vocabulary,
    /// By key and template: what the template offers.
    offered: FxHashMap<(KeyId, usize), Rc<ValueSet>>,
    /// By key: the universe of groups for which every node counts.
    whole: FxHashMap<KeyId, Universe>,
}

impl<'a> UniverseBuilder<'a> {
    pub(crate) fn new(
        problem: &'a PlacementProblem,
        instance_types: &'a InstanceTypes,
        cluster: &'a Cluster,
        vocabulary: &'a Vocabulary,
    ) -> Self {
        let (offered, whole) = (FxHashMap::default(), FxHashMap::default());
        Self { problem, instance_types, cluster, vocabulary, offered, whole }
    }

    /// The universe of a group. Where the domain is the node there is always headroom for one more,
    /// so nobody asks.
    pub(crate) fn of(&mut self, group: &Group) -> Universe {
        if group.is_hostname() {
            return Universe::default();
        }
        let filter = group.filter.as_ref().filter(|filter| !filter.admits_all());
        if filter.is_some() {
            return self.build(group.key, filter);
        }
        if !self.whole.contains_key(&group.key) {
            let whole = self.build(group.key, None);
            self.whole.insert(group.key, whole);
        }
        self.whole[&group.key].clone()
    }

    fn build(&mut self, key: KeyId, filter: Option<&NodeFilter>) -> Universe {
        let mut universe = Universe::default();
        for (index, template) in self.instance_types.templates.iter().enumerate() {
            let taints = &self.problem.pools[template.pool].pool.template.spec.taints;
            if filter.is_none_or(|filter| filter.tolerates(taints)) {
                universe.domains.or_with(&self.offered(key, index, template));
            }
        }
        for members in &self.cluster.kinds {
            if let Some(value) = members.kind.label(key) {
                universe.add_nodes(value, self.admitted(members, filter));
            }
        }
        universe
    }

    /// How many nodes of a kind a filter admits.
    fn admitted(&self, members: &KindMembers, filter: Option<&NodeFilter>) -> u32 {
        let admits = |filter: &NodeFilter, node: u32| {
            filter.admits(self.cluster.read(node as usize), self.vocabulary)
        };
        let count = match filter {
            Some(filter) if filter.names_hosts() => {
                members.nodes.iter().filter(|node| admits(filter, *node)).count()
            }
            Some(filter) if !members.nodes.min().is_some_and(|node| admits(filter, node)) => 0,
            _ => members.nodes.count(),
        };
        u32::try_from(count).expect("fewer than 2³² nodes")
    }

    /// The domains of a key that nodes of a template could have.
    fn offered(&mut self, key: KeyId, index: usize, template: &Template) -> Rc<ValueSet> {
        let (problem, vocabulary) = (self.problem, self.vocabulary);
        let known = self.offered.entry((key, index));
        known.or_insert_with(|| Rc::new(offered_by(template, key, problem, vocabulary))).clone()
    }
}

/// The values that a template names itself, and those of all its types that it allows.
fn offered_by(
    template: &Template,
    key: KeyId,
    problem: &PlacementProblem,
    vocabulary: &Vocabulary,
) -> ValueSet {
    let own = template.requirements.find(key);
    let mut offered = ValueSet::new();
    if let Some(own) = own.filter(|own| !own.is_complement()) {
        let named = own.values().iter().filter(|value| own.has(*value, vocabulary));
        named.for_each(|value| _ = offered.insert(value));
    }
    let listed = listed(key, &problem.pools[template.pool], vocabulary);
    let allowed = listed.iter().filter(|value| own.is_none_or(|own| own.has(*value, vocabulary)));
    allowed.for_each(|value| _ = offered.insert(value));
    offered
}

/// The values that the instance types of a pool tell for a key, also those the pool cannot use.
fn listed(key: KeyId, pool: &PoolWithTypes, vocabulary: &Vocabulary) -> ValueSet {
    let key_text = vocabulary.key_text(key);
    let is_listed =
        |entry: &&RequirementEntry| entry.operator == Operator::In && entry.key == key_text;
    let mut listed = ValueSet::new();
    // A thousand types tell the same few lists of zones, mostly one after the other.
    let mut before: &[String] = &[];
    for instance_type in pool.instance_types.iter() {
        for entry in instance_type.requirements.iter().filter(is_listed) {
            if entry.values != before {
                let values = entry.values.iter();
                let known = values.filter_map(|text| vocabulary.find_value(key, text));
                known.for_each(|value| _ = listed.insert(value));
                before = &entry.values;
            }
        }
    }
    listed
}
