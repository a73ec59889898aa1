//! PodDisruptionBudgets.

use std::sync::Arc;

use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kerf_engine::observed;
use kerf_model::selector::{LabelSelector, SelectorExpression};

use super::meta::meta;
use crate::pod::namespace_of;
use crate::selector::label_selector;

/// Reads a budget.
pub(super) fn read(budget: &PodDisruptionBudget) -> observed::PodDisruptionBudget {
    let spec = budget.spec.as_ref();
    let allowed = budget.status.as_ref().and_then(|status| status.disruptions_allowed);
    let selector = spec.and_then(|spec| spec.selector.as_ref());
    observed::PodDisruptionBudget {
        meta: meta(&budget.metadata),
        namespace: Arc::from(namespace_of(&budget.metadata)),
        selector: selector.map_or_else(nothing, label_selector),
        disruptions_allowed: allowed
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or_default(),
        is_absolute: spec.is_some_and(is_absolute),
        frees_unready: spec.is_some_and(|spec| {
            spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow")
        }),
    }
}

/// Without a selector a budget covers nothing: a selector no pod can match, because the
/// empty one matches all.
fn nothing() -> LabelSelector {
    let impossible = SelectorExpression {
        key: "kubernetes.io/metadata.name".to_owned(),
        operator: "In".to_owned(),
        values: Vec::new(),
    };
    LabelSelector { match_expressions: vec![impossible], ..LabelSelector::default() }
}

fn is_absolute(spec: &PodDisruptionBudgetSpec) -> bool {
    let none = |bound: &IntOrString| match bound {
        IntOrString::Int(count) => *count == 0,
        IntOrString::String(text) => text == "0%" || text == "0",
    };
    let all = |bound: &IntOrString| matches!(bound, IntOrString::String(text) if text == "100%");
    spec.max_unavailable.as_ref().is_some_and(none) || spec.min_available.as_ref().is_some_and(all)
}
