//! What the controller checks beyond what the API server admits.
//!
//! A pool with problems gets the condition `ValidationSucceeded=False` with these messages and is
//! left out of every decision; the other pools go on.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Taint;
use kerf_model::labels::{
    LabelRules, aws, check_label_value, check_qualified_name, kwok, well_known,
};
use kerf_model::price::{Price, PriceAdjustment};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::taint::TaintEffect;

use crate::convert::read_budgets;
use crate::node_overlay::{FIXED_RESOURCES, NodeOverlaySpec};
use crate::node_pool::{NodePoolSpec, Template};
use crate::problem::Problem;
use crate::schema::requirement::Requirement;

/// The label rules with every cloud that Kerf knows, as the CRDs have them.
#[must_use]
pub fn label_rules() -> LabelRules {
    LabelRules::core().with(&aws::provider_labels()).with(&kwok::provider_labels())
}

/// Everything wrong with a pool. A budget that cannot be read is among it, though the pool still
/// serves pods: nothing of the pool would ever be disrupted.
#[must_use]
pub fn validate_node_pool(spec: &NodePoolSpec, rules: &LabelRules) -> Vec<Problem> {
    let mut problems = validate_template(&spec.template, rules);
    let budgets = spec.disruption.as_ref().and_then(|disruption| disruption.budgets.as_deref());
    for (index, budget) in budgets.into_iter().flatten().enumerate() {
        for error in read_budgets(std::slice::from_ref(budget)).unreadable() {
            problems.push(Problem::new(
                format!("spec.disruption.budgets[{index}]"),
                format_args!("{error}; until it is mended, no node of the pool is disrupted"),
            ));
        }
    }
    problems
}

/// Everything wrong with a pool's template: what decides `ValidationSucceeded`.
#[must_use]
pub fn validate_template(template: &Template, rules: &LabelRules) -> Vec<Problem> {
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
                problems.push(Problem::new(path, message));
            }
        }
    }
    for (index, requirement) in spec.requirements.iter().enumerate() {
        let path = format!("spec.template.spec.requirements[{index}]");
        if requirement.key == well_known::NODE_POOL {
            problems
                .push(Problem::new(format!("{path}.key"), "a pool cannot require its own label"));
        }
        validate_requirement(requirement, &path, rules, &mut problems);
    }
    problems
}

/// Everything wrong with an overlay.
#[must_use]
pub fn validate_node_overlay(spec: &NodeOverlaySpec, rules: &LabelRules) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, requirement) in spec.requirements.iter().enumerate() {
        validate_requirement(
            requirement,
            &format!("spec.requirements[{index}]"),
            rules,
            &mut problems,
        );
    }
    for (name, quantity) in spec.capacity.iter().flatten() {
        let path = format!("spec.capacity.{name}");
        if FIXED_RESOURCES.contains(&name.as_str()) {
            problems.push(Problem::new(&path, "an overlay cannot change this resource"));
        }
        if let Err(error) = Quantity::parse(&quantity.text()) {
            problems.push(Problem::new(&path, error));
        }
    }
    let price = spec.price.as_deref().map(|text| ("spec.price", Price::parse(text).err()));
    let change = spec
        .price_adjustment
        .as_deref()
        .map(|text| ("spec.priceAdjustment", PriceAdjustment::parse(text).err()));
    for (path, error) in price.into_iter().chain(change) {
        problems.extend(error.map(|error| Problem::new(path, error)));
    }
    problems
}

fn validate_labels(template: &Template, rules: &LabelRules, problems: &mut Vec<Problem>) {
    let labels = template.metadata.as_ref().and_then(|metadata| metadata.labels.as_ref());
    for (key, value) in labels.into_iter().flatten() {
        let path = format!("spec.template.metadata.labels.{key}");
        if key == well_known::NODE_POOL {
            problems.push(Problem::new(&path, "Kerf sets this label itself; leave it out"));
        }
        if let Err(problem) = check_qualified_name(key) {
            problems.push(Problem::new(&path, format_args!("not a label key: {problem}")));
        }
        if let Err(problem) = check_label_value(value) {
            let message = format_args!("{value:?} is not a label value: {problem}");
            problems.push(Problem::new(&path, message));
        }
        if let Err(restricted) = rules.is_restricted(key) {
            problems.push(Problem::new(&path, restricted));
        }
    }
}

/// A taint as the controller reads it. An empty effect stands for all effects and is let through.
fn validate_taint(taint: &Taint, path: &str, problems: &mut Vec<Problem>) {
    if let Err(problem) = check_qualified_name(&taint.key) {
        let message = format_args!("{:?} is not a taint key: {problem}", taint.key);
        problems.push(Problem::new(format!("{path}.key"), message));
    }
    let value = taint.value.as_deref().unwrap_or_default();
    if !value.is_empty()
        && let Err(problem) = check_qualified_name(value)
    {
        let message = format_args!("{value:?} is not a taint value: {problem}");
        problems.push(Problem::new(format!("{path}.value"), message));
    }
    if !taint.effect.is_empty()
        && let Err(error) = taint.effect.parse::<TaintEffect>()
    {
        problems.push(Problem::new(format!("{path}.effect"), error));
    }
}

fn validate_requirement(
    requirement: &Requirement,
    path: &str,
    rules: &LabelRules,
    problems: &mut Vec<Problem>,
) {
    let operator: Operator = match requirement.operator.parse() {
        Ok(operator) => operator,
        Err(error) => {
            problems.push(Problem::new(format!("{path}.operator"), error));
            return;
        }
    };
    let entry = RequirementEntry {
        key: requirement.key.clone(),
        operator,
        values: requirement.values.clone().unwrap_or_default(),
        min_values: requirement.min_values.and_then(|number| u32::try_from(number).ok()),
    };
    let review = entry.check(rules);
    problems.extend(review.problems.iter().map(|problem| Problem::new(path, problem)));
}
