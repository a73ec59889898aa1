//! The domains of a topology key.

use kerf_model::requirement::{Operator, Requirement, RequirementEntry};
use kerf_model::vocabulary::{KeyId, ValueSet, Vocabulary};

use crate::group::NodeFilter;
use crate::machine::Machines;
use crate::node::NodeState;
use crate::problem::{Pool, Problem};

/// The domains of a key that exist or could: from every pool, and from the nodes that count.
pub(crate) fn universe(
    key: KeyId,
    filter: Option<&NodeFilter>,
    problem: &Problem,
    machines: &Machines,
    nodes: &[NodeState],
    vocabulary: &Vocabulary,
) -> ValueSet {
    let mut domains = ValueSet::new();
    for template in &machines.templates {
        let pool = &problem.pools[template.pool];
        if filter.is_some_and(|filter| !filter.tolerates(&pool.pool.template.spec.taints)) {
            continue;
        }
        let own = template.requirements.find(key);
        if let Some(own) = own.filter(|own| !own.is_complement()) {
            let allowed = own.values().iter().filter(|value| own.has(*value, vocabulary));
            allowed.for_each(|value| _ = domains.insert(value));
        }
        let told = told(key, pool, vocabulary);
        let allowed = told.iter().filter(|value| own.is_none_or(|own| own.has(*value, vocabulary)));
        allowed.for_each(|value| _ = domains.insert(value));
    }
    for node in nodes {
        let taints = &problem.nodes[node.node].taints;
        if filter.is_none_or(|filter| filter.admits(&node.labels, taints, vocabulary))
            && let Some(value) = node.labels.find(key).and_then(Requirement::single_value)
        {
            domains.insert(value);
        }
    }
    domains
}

/// The values that the instance types of a pool tell for a key, also those the pool cannot use.
fn told(key: KeyId, pool: &Pool, vocabulary: &Vocabulary) -> ValueSet {
    let key_text = vocabulary.key_text(key);
    let is_told =
        |entry: &&RequirementEntry| entry.operator == Operator::In && entry.key == key_text;
    let mut told = ValueSet::new();
    // A thousand types tell the same few lists of zones, mostly one after the other.
    let mut before: &[String] = &[];
    for instance_type in pool.instance_types.iter() {
        for entry in instance_type.requirements.iter().filter(is_told) {
            if entry.values != before {
                let values = entry.values.iter();
                let known = values.filter_map(|text| vocabulary.find_value(key, text));
                known.for_each(|value| _ = told.insert(value));
                before = &entry.values;
            }
        }
    }
    told
}
