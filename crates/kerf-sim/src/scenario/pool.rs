//! Pools of a scenario.

use std::hash::{DefaultHasher, Hash, Hasher};

use kerf_model::budget::{BudgetList, BudgetText};
use kerf_model::duration::{GoDuration, NillableDuration};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pool::{ConsolidationPolicy, Disruption, NodePool, NodeTemplate, Sizing};

use super::document as doc;
use super::error::ScenarioError;
use super::{text, workload};

/// How long nodes live unless the pool says otherwise, as the API defaults it.
const EXPIRE_AFTER_DEFAULT: &str = "720h";
/// How long a node must be quiet unless the pool says otherwise, as the API defaults it.
const CONSOLIDATE_AFTER_DEFAULT: &str = "0s";
/// How many nodes may be disrupted at once unless the pool says otherwise, as the API defaults it.
const BUDGET_DEFAULT: &str = "10%";

pub(super) fn read(
    doc: &doc::Pool,
    node_class: &NodeClassRef,
    field: &str,
) -> Result<NodePool, ScenarioError> {
    let at = |name: &str| format!("{field}.{name}");
    let nillable = |text: &Option<String>, default: &str, name: &str| {
        NillableDuration::parse(text.as_deref().unwrap_or(default))
            .map_err(|error| ScenarioError::field(at(name), error))
    };
    let listed = |texts: &[String], name: &str| {
        let taints: Result<Vec<_>, _> = texts.iter().map(|text| text::taint(text)).collect();
        taints.map_err(|error| ScenarioError::field(at(name), error))
    };
    let requirements: Result<Vec<_>, _> =
        doc.requirements.iter().map(|text| text::requirement(text)).collect();
    let grace = doc.termination_grace_period.as_deref().map(GoDuration::parse).transpose();
    let spec = NodeSpec {
        requirements: requirements
            .map_err(|error| ScenarioError::field(at("requirements"), error))?,
        taints: listed(&doc.taints, "taints")?,
        startup_taints: listed(&doc.startup_taints, "startupTaints")?,
        node_class: node_class.clone(),
        termination_grace: grace
            .map_err(|error| ScenarioError::field(at("terminationGracePeriod"), error))?,
        expire_after: nillable(&doc.expire_after, EXPIRE_AFTER_DEFAULT, "expireAfter")?,
    };
    let template =
        NodeTemplate { labels: doc.labels.clone(), annotations: Default::default(), spec };
    Ok(NodePool {
        name: doc.name.clone(),
        weight: doc.weight,
        sizing: doc.replicas.map_or(Sizing::Dynamic, |replicas| Sizing::Static { replicas }),
        limits: workload::resources(&doc.limits, &at("limits"))?,
        disruption: Disruption {
            policy: policy(doc.consolidation_policy.as_deref(), field)?,
            consolidate_after: nillable(
                &doc.consolidate_after,
                CONSOLIDATE_AFTER_DEFAULT,
                "consolidateAfter",
            )?,
            budgets: budgets(doc.budgets.as_deref(), field)?,
        },
        hash: hash(&template),
        template,
    })
}

fn policy(text: Option<&str>, field: &str) -> Result<ConsolidationPolicy, ScenarioError> {
    match text {
        None | Some("WhenEmptyOrUnderutilized") => {
            Ok(ConsolidationPolicy::WhenEmptyOrUnderutilized)
        }
        Some("WhenEmpty") => Ok(ConsolidationPolicy::WhenEmpty),
        Some("Balanced") => Ok(ConsolidationPolicy::Balanced),
        Some(other) => {
            let problem =
                format!("{other:?} is not one of WhenEmpty, WhenEmptyOrUnderutilized, Balanced");
            Err(ScenarioError::field(format!("{field}.consolidationPolicy"), problem))
        }
    }
}

fn budgets(docs: Option<&[doc::Budget]>, field: &str) -> Result<BudgetList, ScenarioError> {
    let Some(docs) = docs else {
        return Ok(BudgetList::parse([BudgetText { nodes: BUDGET_DEFAULT, ..Default::default() }]));
    };
    let reasons: Vec<Option<Vec<&str>>> = docs
        .iter()
        .map(|budget| Some(budget.reasons.as_ref()?.iter().map(String::as_str).collect()))
        .collect();
    let list = BudgetList::parse(docs.iter().zip(&reasons).map(|(budget, reasons)| BudgetText {
        nodes: &budget.nodes,
        reasons: reasons.as_deref(),
        schedule: budget.schedule.as_deref(),
        duration: budget.duration.as_deref(),
    }));
    match list.unreadable().first() {
        None => Ok(list),
        Some(error) => Err(ScenarioError::field(format!("{field}.budgets"), error)),
    }
}

/// A stand-in for the public hash: here it only has to differ where templates do.
pub(crate) fn hash(template: &NodeTemplate) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{template:?}").hash(&mut hasher);
    hasher.finish().to_string()
}
