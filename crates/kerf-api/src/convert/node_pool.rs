//! NodePools.

use kerf_model::budget::{Budget, BudgetList, BudgetNodes, BudgetText};
use kerf_model::pool as model;

use super::node_spec::{self, SharedFields};
use crate::field_error::FieldError;
use crate::hash::node_pool_hash;
use crate::node_pool::{
    self as api, ConsolidationPolicy, NodePool, NodePoolSpec, Template, TemplateMetadata,
    TemplateSpec,
};
use crate::reader::Reader;

/// Reads a pool.
///
/// What `disruption` leaves out means what an API server would fill in. A budget that cannot be read
/// is kept as such: the pool still serves pods, but nothing of it is disrupted until the budget is
/// mended.
///
/// # Errors
/// Every field that cannot be understood.
pub fn node_pool_to_model(pool: &NodePool) -> Result<model::NodePool, Vec<FieldError>> {
    let NodePoolSpec { disruption, limits, replicas, template, weight } = &pool.spec;
    let mut reader = Reader::default();
    let limits = reader.resources("spec.limits", limits.as_ref());
    let disruption = read_disruption(&mut reader, disruption.as_ref());
    let weight = reader.count("spec.weight", i64::from(weight.unwrap_or_default()));
    let sizing = match replicas {
        None => Some(model::Sizing::Dynamic),
        Some(replicas) => reader
            .count("spec.replicas", *replicas)
            .map(|replicas| model::Sizing::Static { replicas }),
    };
    let shape = read_template(&mut reader, template);
    let read = || {
        Some(model::NodePool {
            name: pool.metadata.name.clone().unwrap_or_default(),
            weight: weight?,
            sizing: sizing?,
            limits: limits?,
            disruption: disruption?,
            template: shape?,
            hash: node_pool_hash(template),
        })
    };
    let value = read();
    reader.finish(value)
}

/// Writes a pool.
#[must_use]
pub fn node_pool_from_model(pool: &model::NodePool) -> NodePool {
    let model::NodePool { name, weight, sizing, limits, disruption, template, hash: _ } = pool;
    let spec = NodePoolSpec {
        disruption: Some(write_disruption(disruption)),
        limits: node_spec::resources(limits),
        replicas: match sizing {
            model::Sizing::Dynamic => None,
            model::Sizing::Static { replicas } => i64::try_from(*replicas).ok(),
        },
        template: write_template(template),
        weight: (*weight > 0).then(|| i32::try_from(*weight).unwrap_or(i32::MAX)),
    };
    NodePool::new(name, spec)
}

fn read_disruption(
    reader: &mut Reader,
    disruption: Option<&api::Disruption>,
) -> Option<model::Disruption> {
    let consolidate_after = disruption
        .and_then(|disruption| disruption.consolidate_after.as_deref())
        .unwrap_or(api::CONSOLIDATE_AFTER_DEFAULT);
    let budgets = disruption.and_then(|disruption| disruption.budgets.as_ref());
    let policy = disruption.and_then(|disruption| disruption.consolidation_policy);
    Some(model::Disruption {
        policy: policy.map(read_policy).unwrap_or_default(),
        consolidate_after: reader
            .nillable("spec.disruption.consolidateAfter", Some(consolidate_after))?,
        budgets: match budgets {
            Some(budgets) => read_budgets(budgets),
            None => read_budgets(&[api::Budget::default()]),
        },
    })
}

/// The budgets of a pool, with those that cannot be read as errors.
pub(crate) fn read_budgets(budgets: &[api::Budget]) -> BudgetList {
    let reasons: Vec<Option<Vec<&str>>> = budgets
        .iter()
        .map(|budget| Some(budget.reasons.as_ref()?.iter().map(|r| r.as_str()).collect()))
        .collect();
    let texts = budgets.iter().zip(&reasons).map(|(budget, reasons)| BudgetText {
        nodes: &budget.nodes,
        reasons: reasons.as_deref(),
        schedule: budget.schedule.as_deref(),
        duration: budget.duration.as_deref(),
    });
    BudgetList::parse(texts)
}

fn write_disruption(disruption: &model::Disruption) -> api::Disruption {
    api::Disruption {
        budgets: Some(disruption.budgets.budgets().iter().map(write_budget).collect()),
        consolidate_after: Some(disruption.consolidate_after.as_str().to_owned()),
        consolidation_policy: Some(write_policy(disruption.policy)),
    }
}

fn write_budget(budget: &Budget) -> api::Budget {
    api::Budget {
        duration: budget.window.as_ref().map(|window| window.duration.to_string()),
        nodes: match budget.nodes {
            BudgetNodes::Count(count) => count.to_string(),
            BudgetNodes::Percent(percent) => format!("{}%", percent.get()),
        },
        reasons: budget.reasons.map(|reasons| reasons.iter().map(Into::into).collect()),
        schedule: budget.window.as_ref().map(|window| window.schedule.to_string()),
    }
}

fn read_template(reader: &mut Reader, template: &Template) -> Option<model::NodeTemplate> {
    let TemplateSpec {
        expire_after,
        node_class_ref,
        requirements,
        startup_taints,
        taints,
        termination_grace_period,
    } = &template.spec;
    let fields = SharedFields {
        requirements,
        taints: taints.as_ref(),
        startup_taints: startup_taints.as_ref(),
        node_class_ref,
        termination_grace_period: termination_grace_period.as_deref(),
        expire_after: expire_after.as_deref(),
    };
    let metadata = template.metadata.clone().unwrap_or_default();
    Some(model::NodeTemplate {
        labels: metadata.labels.unwrap_or_default(),
        annotations: metadata.annotations.unwrap_or_default(),
        spec: node_spec::read(reader, "spec.template.spec", &fields)?,
    })
}

fn write_template(template: &model::NodeTemplate) -> Template {
    let model::NodeTemplate { labels, annotations, spec } = template;
    let metadata = TemplateMetadata {
        annotations: (!annotations.is_empty()).then(|| annotations.clone()),
        labels: (!labels.is_empty()).then(|| labels.clone()),
    };
    let spec = TemplateSpec {
        expire_after: Some(spec.expire_after.as_str().to_owned()),
        node_class_ref: node_spec::node_class_ref(&spec.node_class),
        requirements: node_spec::requirements(&spec.requirements),
        startup_taints: node_spec::taints(&spec.startup_taints),
        taints: node_spec::taints(&spec.taints),
        termination_grace_period: spec.termination_grace.map(|grace| grace.to_string()),
    };
    Template { metadata: (metadata != TemplateMetadata::default()).then_some(metadata), spec }
}

fn read_policy(policy: ConsolidationPolicy) -> model::ConsolidationPolicy {
    match policy {
        ConsolidationPolicy::WhenEmpty => model::ConsolidationPolicy::WhenEmpty,
        ConsolidationPolicy::WhenEmptyOrUnderutilized => {
            model::ConsolidationPolicy::WhenEmptyOrUnderutilized
        }
        ConsolidationPolicy::Balanced => model::ConsolidationPolicy::Balanced,
    }
}

fn write_policy(policy: model::ConsolidationPolicy) -> ConsolidationPolicy {
    match policy {
        model::ConsolidationPolicy::WhenEmpty => ConsolidationPolicy::WhenEmpty,
        model::ConsolidationPolicy::WhenEmptyOrUnderutilized => {
            ConsolidationPolicy::WhenEmptyOrUnderutilized
        }
        model::ConsolidationPolicy::Balanced => ConsolidationPolicy::Balanced,
    }
}
