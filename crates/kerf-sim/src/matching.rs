//! Requirements and selectors matched on text: slow, simple, and apart from the solver's way.

use std::collections::BTreeMap;

use kerf_model::pod::PodShape;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::selector::LabelSelector;
use kerf_model::taint::{Taint, TaintEffect, untolerated};
use kerf_model::vocabulary::parse_integer;

pub(crate) type Labels = BTreeMap<String, String>;

/// Whether a label value, or its absence, satisfies a requirement.
pub(crate) fn admits(entry: &RequirementEntry, value: Option<&str>) -> bool {
    let listed = |value: &str| entry.values.iter().any(|known| known == value);
    let bound = || entry.values.first().and_then(|text| parse_integer(text));
    let compare = |test: fn(i64, i64) -> bool| {
        let pair = value.and_then(parse_integer).zip(bound());
        pair.is_some_and(|(value, bound)| test(value, bound))
    };
    match entry.operator {
        Operator::In => value.is_some_and(listed),
        Operator::NotIn => !value.is_some_and(listed),
        Operator::Exists => value.is_some(),
        Operator::DoesNotExist => value.is_none(),
        Operator::Gt => compare(|value, bound| value > bound),
        Operator::Lt => compare(|value, bound| value < bound),
        Operator::Gte => compare(|value, bound| value >= bound),
        Operator::Lte => compare(|value, bound| value <= bound),
    }
}

/// Whether labels satisfy all requirements.
pub(crate) fn satisfy(labels: &Labels, entries: &[RequirementEntry]) -> bool {
    entries.iter().all(|entry| admits(entry, labels.get(&entry.key).map(String::as_str)))
}

/// Whether a selector means an object with these labels.
pub(crate) fn selects(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    let Some(selector) = selector else { return false };
    let exact = selector.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
    exact
        && selector.match_expressions.iter().all(|expression| {
            let value = labels.get(&expression.key);
            let listed = value.is_some_and(|value| expression.values.contains(value));
            match expression.operator.as_str() {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

/// Whether a pod's node selector, node affinity and volumes let it run on nodes with these labels.
pub(crate) fn may_run(shape: &PodShape, labels: &Labels) -> bool {
    let placement = &shape.placement;
    let selected = placement.node_selector.iter().all(|(k, v)| labels.get(k) == Some(v));
    let required = &placement.node_affinity.required;
    selected
        && (required.is_empty() || required.iter().any(|term| satisfy(labels, term)))
        && shape.volumes.iter().all(|volume| {
            let places = &volume.reachable_from;
            places.is_empty() || places.iter().any(|place| satisfy(labels, place))
        })
}

/// Whether a pod tolerates what keeps pods from being placed.
pub(crate) fn tolerates(shape: &PodShape, taints: &[Taint]) -> bool {
    untolerated(taints, &shape.tolerations)
        .all(|taint| taint.effect == TaintEffect::PreferNoSchedule)
}
