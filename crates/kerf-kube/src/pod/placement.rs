//! Node selector, node affinity and tolerations of a pod.

use k8s_openapi::api::core::v1 as core;
use kerf_model::requirements::{NodeAffinity, PodPlacement, PreferredTerm};
use kerf_model::taint::{Toleration, TolerationOperator};

use crate::reader::{CoreFields as _, Reader, all};

/// Node selector and node affinity.
pub(super) fn placement(
    reader: &mut Reader,
    path: &str,
    spec: &core::PodSpec,
) -> Option<PodPlacement> {
    let affinity = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let node_affinity = match affinity {
        None => Some(NodeAffinity::default()),
        Some(affinity) => node_affinity(reader, &format!("{path}.affinity.nodeAffinity"), affinity),
    };
    let node_selector = spec.node_selector.clone().unwrap_or_default();
    Some(PodPlacement { node_selector, node_affinity: node_affinity? })
}

fn node_affinity(
    reader: &mut Reader,
    path: &str,
    affinity: &core::NodeAffinity,
) -> Option<NodeAffinity> {
    let terms = affinity.required_during_scheduling_ignored_during_execution.as_ref();
    let terms = terms.map_or(&[][..], |selector| &selector.node_selector_terms);
    let required = terms.iter().enumerate().map(|(index, term)| {
        let path = format!("{path}.requiredDuringSchedulingIgnoredDuringExecution");
        let path = format!("{path}.nodeSelectorTerms[{index}].matchExpressions");
        reader.expressions(&path, term.match_expressions.as_ref())
    });
    let required = all(required);
    let by_field = |term: &core::NodeSelectorTerm| {
        term.match_fields.as_ref().is_some_and(|fields| !fields.is_empty())
    };
    let preferences =
        affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    let preferred = preferences.enumerate().map(|(index, term)| {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}]");
        let path = format!("{path}.preference.matchExpressions");
        let expressions = reader.expressions(&path, term.preference.match_expressions.as_ref())?;
        Some(PreferredTerm { weight: term.weight, expressions })
    });
    let preferred = all(preferred);
    Some(NodeAffinity {
        required: required?,
        preferred: preferred?,
        required_by_field: terms.iter().any(by_field),
    })
}

/// Tolerations, in their order.
pub(super) fn tolerations(
    reader: &mut Reader,
    path: &str,
    list: Option<&Vec<core::Toleration>>,
) -> Option<Vec<Toleration>> {
    let entries = list.into_iter().flatten().enumerate().map(|(index, toleration)| {
        toleration_from(reader, &format!("{path}.tolerations[{index}]"), toleration)
    });
    all(entries)
}

fn toleration_from(
    reader: &mut Reader,
    path: &str,
    toleration: &core::Toleration,
) -> Option<Toleration> {
    // How long a pod stays after a NoExecute taint appears has no say in where it may start.
    let core::Toleration { key, operator, value, effect, toleration_seconds: _ } = toleration;
    let word = operator.as_deref().unwrap_or_default();
    let operator = TolerationOperator::parse(word);
    if operator.is_none() {
        let message = format!("{word:?} is not one of Equal, Exists, Gt, Lt");
        reader.refuse(format!("{path}.operator"), message);
    }
    let effect = match effect.as_deref() {
        None | Some("") => Some(None),
        Some(text) => reader.parse(&format!("{path}.effect"), text).map(Some),
    };
    Some(Toleration {
        key: key.clone().unwrap_or_default(),
        operator: operator?,
        value: value.clone().unwrap_or_default(),
        effect: effect?,
    })
}
