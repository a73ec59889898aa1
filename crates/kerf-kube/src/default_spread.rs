//! Which pods are of one kind, where nobody says it: the selector of default spreads.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kerf_model::pod::{PodShape, SpreadConstraint};
use kerf_model::selector::{LabelSelector, SelectorExpression};

use crate::selector::label_selector;

/// How the controller of a pod finds its pods.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerSelector {
    /// A ReplicationController's labels, which go over those of Services.
    Labels(BTreeMap<String, String>),
    /// The selector of a ReplicaSet or StatefulSet, which must hold too.
    Selector(meta::LabelSelector),
}

/// The selector that means a pod and its like: the labels by which Services find the pod, merged,
/// and what its controller selects. `None` where nobody selects it.
#[must_use]
pub fn deduced_selector<'a>(
    labels: &BTreeMap<String, String>,
    services: impl IntoIterator<Item = &'a BTreeMap<String, String>>,
    controller: Option<&ControllerSelector>,
) -> Option<LabelSelector> {
    let mut deduced = LabelSelector::default();
    let selects = |selector: &&BTreeMap<String, String>| {
        selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    for selector in services.into_iter().filter(selects) {
        deduced.match_labels.extend(selector.clone());
    }
    match controller {
        None => {}
        Some(ControllerSelector::Labels(labels)) => deduced.match_labels.extend(labels.clone()),
        Some(ControllerSelector::Selector(selector)) => narrow(&mut deduced, selector),
    }
    let is_empty = deduced.match_labels.is_empty() && deduced.match_expressions.is_empty();
    (!is_empty).then_some(deduced)
}

/// Gives the defaults to a pod that has no spreads, if it is known which pods are its like.
pub(crate) fn spread_by_default<'a>(
    spreads: &[SpreadConstraint],
    shape: &mut PodShape,
    services: impl IntoIterator<Item = &'a BTreeMap<String, String>>,
    controller: Option<&ControllerSelector>,
) {
    if spreads.is_empty() || !shape.spreads.is_empty() {
        return;
    }
    let Some(selector) = deduced_selector(&shape.labels, services, controller) else { return };
    let with_selector = |spread: &SpreadConstraint| SpreadConstraint {
        selector: Some(selector.clone()),
        ..spread.clone()
    };
    shape.spreads = spreads.iter().map(with_selector).collect();
}

/// Adds a selector that must hold as well. A label both name with different values is kept twice:
/// nothing has both.
fn narrow(deduced: &mut LabelSelector, selector: &meta::LabelSelector) {
    let LabelSelector { match_labels, match_expressions } = label_selector(selector);
    for (key, value) in match_labels {
        match deduced.match_labels.get(&key) {
            None => {
                deduced.match_labels.insert(key, value);
            }
            Some(same) if *same == value => {}
            Some(_) => deduced.match_expressions.push(SelectorExpression {
                key,
                operator: "In".to_owned(),
                values: vec![value],
            }),
        }
    }
    deduced.match_expressions.extend(match_expressions);
}
