//! NodePools.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Taint;
use kerf_model::labels::{LabelRules, check_labels, check_qualified_name, well_known};
use kerf_model::taint::TaintEffect;

use super::requirement::validate_requirement;
use crate::convert::read_budgets;
use crate::field_error::FieldError;
use crate::node_pool::{NodePoolSpec, Template};

/// Everything wrong with a pool. A budget that cannot be read is among it, though the pool still
/// serves pods: nothing of the pool would ever be disrupted.
#[must_use]
pub fn validate_node_pool(spec: &NodePoolSpec, rules: &LabelRules) -> Vec<FieldError> {
    let mut problems = validate_template(&spec.template, rules);
    let budgets = spec.disruption.as_ref().and_then(|disruption| disruption.budgets.as_deref());
    for (index, budget) in budgets.into_iter().flatten().enumerate() {
        for error in read_budgets(std::slice::from_ref(budget)).unreadable() {
            problems.push(FieldError::new(
                format!("spec.disruption.budgets[{index}]"),
                format_args!("{error}; until it is mended, no node of the pool is disrupted"),
            ));
        }
    }
    problems
}

/// Everything wrong with a pool's template: what decides `ValidationSucceeded`.
#[must_use]
pub fn validate_template(template: &Template, rules: &LabelRules) -> Vec<FieldError> {
    let mut problems = Vec::new();
    validate_labels(template, rules, &mut problems);
    let spec = &template.spec;
    let mut marks = BTreeSet::new();
    for (name, taints) in [("taints", &spec.taints), ("startupTaints", &spec.startup_taints)] {
        for (index, taint) in taints.iter().flatten().enumerate() {
            let path = format!("spec.template.spec.{name}[{index}]");
            validate_taint(taint, &path, &mut problems);
            if !marks.insert((&taint.key, &taint.effect)) {
                let (key, effect) = (&taint.key, &taint.effect);
                let message = format_args!("a second taint with key {key:?} and effect {effect:?}");
                problems.push(FieldError::new(path, message));
            }
        }
    }
    for (index, requirement) in spec.requirements.iter().enumerate() {
        let path = format!("spec.template.spec.requirements[{index}]");
        if requirement.key == well_known::NODE_POOL {
            problems.push(FieldError::new(
                format!("{path}.key"),
                "a pool cannot require its own label",
            ));
        }
        validate_requirement(requirement, &path, rules, &mut problems);
    }
    problems
}

fn validate_labels(template: &Template, rules: &LabelRules, problems: &mut Vec<FieldError>) {
    let labels = template.metadata.as_ref().and_then(|metadata| metadata.labels.as_ref());
    for (key, value) in labels.into_iter().flatten() {
        let path = format!("spec.template.metadata.labels.{key}");
        let found = check_labels([(key.as_str(), value.as_str())], rules);
        problems.extend(found.iter().map(|problem| FieldError::new(&path, problem)));
    }
}

/// A taint as the controller reads it. An empty effect stands for all effects and is let through.
fn validate_taint(taint: &Taint, path: &str, problems: &mut Vec<FieldError>) {
    if let Err(problem) = check_qualified_name(&taint.key) {
        let message = format_args!("{:?} is not a taint key: {problem}", taint.key);
        problems.push(FieldError::new(format!("{path}.key"), message));
    }
    let value = taint.value.as_deref().unwrap_or_default();
    if !value.is_empty()
        && let Err(problem) = check_qualified_name(value)
    {
        let message = format_args!("{value:?} is not a taint value: {problem}");
        problems.push(FieldError::new(format!("{path}.value"), message));
    }
    if !taint.effect.is_empty()
        && let Err(error) = taint.effect.parse::<TaintEffect>()
    {
        problems.push(FieldError::new(format!("{path}.effect"), error));
    }
}
