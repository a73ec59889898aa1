//! The list of instance types a new node may be.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::vocabulary::{KeyId, ValueId};
use kerf_scheduler::{MinValuesPolicy, NewNode};

use crate::facts::{Facts, Place};
use crate::violation::{Rule, Violation};

/// Checks the list of every new node.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    let nodes = facts.solution.new_nodes.iter().enumerate();
    nodes.flat_map(|(index, node)| check_list(facts, index, node)).collect()
}

fn check_list(facts: &Facts, index: usize, node: &NewNode) -> Vec<Violation> {
    let name = facts.place_name(Place::New(index));
    let most = facts.problem.settings.instance_type_options_max;
    let distinct: BTreeSet<usize> = node.options.iter().map(|each| each.instance_type).collect();
    let mut found = Vec::new();
    if node.options.is_empty() {
        found.push((Rule::InstanceTypes, format!("{name} can be no instance type")));
    }
    if node.options.len() > most {
        let count = node.options.len();
        found.push((Rule::InstanceTypes, format!("{name} has {count} options, more than {most}")));
    }
    if distinct.len() < node.options.len() {
        found.push((Rule::InstanceTypes, format!("{name} lists an instance type twice")));
    }
    if !node.options.is_sorted_by_key(|option| option.price) {
        found.push((Rule::Price, format!("the options of {name} are not sorted by price")));
    }
    found.extend(min_values(facts, node, &name));
    found.into_iter().map(|(rule, sentence)| Violation::new(rule, sentence)).collect()
}

/// The distinct values that the types themselves list must reach what the pool asks for, unless it
/// may be lowered and is said to have been.
fn min_values(facts: &Facts, node: &NewNode, name: &str) -> Vec<(Rule, String)> {
    let strict = facts.problem.settings.min_values == MinValuesPolicy::Strict;
    if node.min_values_relaxed {
        let sentence = format!("{name} lowers minValues, which is not allowed");
        return if strict { vec![(Rule::MinValues, sentence)] } else { Vec::new() };
    }
    let mut found = Vec::new();
    for (key, wanted) in asked(facts, node.pool) {
        let mut values: BTreeSet<ValueId> = BTreeSet::new();
        for option in &node.options {
            let listed = &facts.pools[node.pool].types[option.instance_type].requirements;
            let listed = listed.find(key).filter(|listed| !listed.is_complement());
            values.extend(listed.into_iter().flat_map(|listed| listed.values().iter()));
        }
        if values.len() < wanted as usize {
            let (key, count) = (facts.vocabulary.key_text(key), values.len());
            let sentence = format!("{name} leaves {count} values of {key}, not {wanted}");
            found.push((Rule::MinValues, sentence));
        }
    }
    found
}

fn asked(facts: &Facts, pool: usize) -> BTreeMap<KeyId, u32> {
    let template = &facts.pools[pool].template;
    template.iter().filter_map(|each| Some((each.key(), each.min_values()?))).collect()
}
