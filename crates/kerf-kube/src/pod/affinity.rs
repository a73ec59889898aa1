//! Pod affinity and anti-affinity.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use kerf_model::pod::{PodAffinity, PodAffinityTerm};
use kerf_model::selector::{LabelSelector, SelectorExpression, TermNamespaces};

use crate::selector::label_selector;

type Required<'a> = Option<&'a Vec<core::PodAffinityTerm>>;
type Preferred<'a> = Option<&'a Vec<core::WeightedPodAffinityTerm>>;

/// The affinity of a pod with these labels.
pub(super) fn affinity(
    affinity: Option<&core::PodAffinity>,
    labels: &BTreeMap<String, String>,
) -> PodAffinity {
    let Some(affinity) = affinity else { return PodAffinity::default() };
    let core::PodAffinity {
        required_during_scheduling_ignored_during_execution: required,
        preferred_during_scheduling_ignored_during_execution: preferred,
    } = affinity;
    terms(required.as_ref(), preferred.as_ref(), labels)
}

/// The anti-affinity of a pod with these labels.
pub(super) fn anti_affinity(
    affinity: Option<&core::PodAntiAffinity>,
    labels: &BTreeMap<String, String>,
) -> PodAffinity {
    let Some(affinity) = affinity else { return PodAffinity::default() };
    let core::PodAntiAffinity {
        required_during_scheduling_ignored_during_execution: required,
        preferred_during_scheduling_ignored_during_execution: preferred,
    } = affinity;
    terms(required.as_ref(), preferred.as_ref(), labels)
}

fn terms(
    required: Required<'_>,
    preferred: Preferred<'_>,
    labels: &BTreeMap<String, String>,
) -> PodAffinity {
    let preference = |preference: &core::WeightedPodAffinityTerm| {
        (preference.weight, term(&preference.pod_affinity_term, labels))
    };
    PodAffinity {
        required: required.into_iter().flatten().map(|each| term(each, labels)).collect(),
        preferred: preferred.into_iter().flatten().map(preference).collect(),
    }
}

fn term(term: &core::PodAffinityTerm, labels: &BTreeMap<String, String>) -> PodAffinityTerm {
    let core::PodAffinityTerm {
        label_selector: selector,
        match_label_keys,
        mismatch_label_keys,
        namespace_selector,
        namespaces,
        topology_key,
    } = term;
    let selector = selector.as_ref().map(|selector| {
        let mut selector = label_selector(selector);
        add_own_values(&mut selector, "In", match_label_keys.as_ref(), labels);
        add_own_values(&mut selector, "NotIn", mismatch_label_keys.as_ref(), labels);
        selector
    });
    PodAffinityTerm {
        topology_key: topology_key.clone(),
        selector,
        namespaces: TermNamespaces {
            names: namespaces.clone().unwrap_or_default(),
            selector: namespace_selector.as_ref().map(label_selector),
        },
    }
}

/// What the API server writes into the selector when a pod is created, so it may be there already.
/// A key the pod does not have says nothing.
fn add_own_values(
    selector: &mut LabelSelector,
    operator: &str,
    keys: Option<&Vec<String>>,
    labels: &BTreeMap<String, String>,
) {
    for key in keys.into_iter().flatten() {
        let Some(value) = labels.get(key) else { continue };
        let expression = SelectorExpression {
            key: key.clone(),
            operator: operator.to_owned(),
            values: vec![value.clone()],
        };
        if !selector.match_expressions.contains(&expression) {
            selector.match_expressions.push(expression);
        }
    }
}
