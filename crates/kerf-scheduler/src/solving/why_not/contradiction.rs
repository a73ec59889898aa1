//! Pods whose own rules contradict each other.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::requirement::{Operator, RequirementEntry};

use super::phrase;
use crate::reading::class::Class;
use crate::reading::placement::selector_of;

/// One part of a pod that says which values a label may have.
struct Constraint<'a> {
    by: String,
    values: BTreeSet<&'a str>,
}

/// Two parts of a pod that no node can satisfy at once.
pub(super) fn text(class: &Class) -> String {
    let shape = &class.shape;
    let selector = selector_of(shape);
    let mut constraints: BTreeMap<&str, Vec<Constraint<'_>>> = BTreeMap::new();
    note(&mut constraints, "its nodeSelector", &[&selector]);
    let terms: Vec<&Vec<RequirementEntry>> =
        shape.placement.node_affinity.required.iter().collect();
    note(&mut constraints, "its node affinity", &terms);
    for volume in &shape.volumes {
        let claim = volume.claim.split_once('/').map_or(volume.claim.as_str(), |(_, name)| name);
        let terms: Vec<&Vec<RequirementEntry>> = volume.reachable_from.iter().collect();
        note(&mut constraints, &format!("its volume {claim}"), &terms);
    }
    for (key, constraints) in &constraints {
        for (place, one) in constraints.iter().enumerate() {
            let mut others = constraints[place + 1..].iter();
            if let Some(other) = others.find(|other| one.values.is_disjoint(&other.values)) {
                return differ(key, one, other);
            }
        }
    }
    "the node selector, the node affinity and the volumes of the pod contradict each other, so no \
     node can satisfy them; drop one"
        .to_owned()
}

/// Notes the values that every alternative of a part lists for a label.
fn note<'a>(
    constraints: &mut BTreeMap<&'a str, Vec<Constraint<'a>>>,
    by: &str,
    alternatives: &[&'a Vec<RequirementEntry>],
) {
    let Some(first) = alternatives.first() else { return };
    for key in first.iter().map(|entry| entry.key.as_str()) {
        let listed = alternatives.iter().map(|term| {
            let mut entries = term.iter().filter(|it| it.key == key && it.operator == Operator::In);
            entries.next().map(|entry| entry.values.iter().map(String::as_str))
        });
        if let Some(listed) = listed.collect::<Option<Vec<_>>>() {
            let values = listed.into_iter().flatten().collect();
            constraints.entry(key).or_default().push(Constraint { by: by.to_owned(), values });
        }
    }
}

fn differ(key: &str, one: &Constraint<'_>, other: &Constraint<'_>) -> String {
    let said = |values: &BTreeSet<&str>| {
        let values: Vec<&str> = values.iter().copied().collect();
        phrase::listed(&values, "or")
    };
    let noun = phrase::noun(key).map_or_else(|| format!("the label {key}"), str::to_owned);
    let (first, second) = (&one.by, &other.by);
    format!(
        "{first} asks for {noun} {} and {second} for {}; no node has both, drop one",
        said(&one.values),
        said(&other.values)
    )
}
