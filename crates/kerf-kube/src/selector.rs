//! Label selectors.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kerf_model::selector::{LabelSelector, SelectorExpression};

/// A label selector in the model's words. Wrong words stay: they make the selector match nothing.
pub(crate) fn label_selector(selector: &meta::LabelSelector) -> LabelSelector {
    let meta::LabelSelector { match_labels, match_expressions } = selector;
    let expression = |expression: &meta::LabelSelectorRequirement| SelectorExpression {
        key: expression.key.clone(),
        operator: expression.operator.clone(),
        values: expression.values.clone().unwrap_or_default(),
    };
    LabelSelector {
        match_labels: match_labels.clone().unwrap_or_default(),
        match_expressions: match_expressions.iter().flatten().map(expression).collect(),
    }
}
