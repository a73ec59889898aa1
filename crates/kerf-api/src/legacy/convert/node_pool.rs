//! A Provisioner to a NodePool.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, Taint};
use kerf_model::duration::GoDuration;

use super::reading::ProvisionerReading;
use super::{Options, object_meta};
use crate::legacy::defaults::with_default_requirements;
use crate::legacy::finding::Findings;
use crate::legacy::labels::{
    INSTANCE_AMI_ID, INSTANCE_PODS, OBSOLETE_ANNOTATIONS, RENAMED_NODE_ANNOTATIONS, normalized,
};
use crate::legacy::provisioner::ProvisionerSpec;
use crate::node_class_ref::NodeClassRef;
use crate::node_pool::{
    Budget, ConsolidationPolicy, Disruption, NodePool, NodePoolSpec, Template, TemplateMetadata,
    TemplateSpec,
};
use crate::schema::requirement::Requirement;
use crate::validation::{label_rules, validate_node_pool};

/// What a duration is when the thing never happens.
const NEVER: &str = "Never";
/// Most requirements of a NodePool.
const REQUIREMENTS_MAX: usize = 100;

/// The NodePool, unless the Provisioner has an error. `class` is the name of its EC2NodeClass.
pub(super) fn build(
    reading: &mut ProvisionerReading<'_>,
    class: &str,
    options: &Options,
) -> Option<NodePool> {
    let ProvisionerReading { provisioner, findings, .. } = reading;
    let spec = &provisioner.spec;
    let template = Template {
        metadata: template_metadata(spec, findings),
        spec: TemplateSpec {
            expire_after: Some(expire_after(spec, findings)),
            node_class_ref: NodeClassRef {
                group: "karpenter.k8s.aws".to_owned(),
                kind: "EC2NodeClass".to_owned(),
                name: class.to_owned(),
            },
            requirements: requirements(spec, findings),
            startup_taints: taints(&spec.startup_taints, "startupTaints", findings),
            taints: taints(&spec.taints, "taints", findings),
            termination_grace_period: None,
        },
    };
    let pool = NodePoolSpec {
        disruption: Some(disruption(spec, options, findings)),
        limits: spec.limits.as_ref().and_then(|limits| limits.resources.clone()),
        replicas: None,
        template,
        weight: spec.weight,
    };
    if findings.allow_conversion() {
        for problem in validate_node_pool(&pool, &label_rules()) {
            findings.error(format!("NodePool {}", problem.field), problem.message);
        }
    }
    let mut pool = NodePool { spec: pool, ..NodePool::default() };
    object_meta::carry_over(&provisioner.metadata, &mut pool.metadata);
    Some(pool).filter(|_| findings.allow_conversion())
}

fn template_metadata(spec: &ProvisionerSpec, findings: &mut Findings) -> Option<TemplateMetadata> {
    for key in spec.labels.iter().flatten().map(|(key, _)| key) {
        refuse_removed_label(key, &format!("spec.labels[{key:?}]"), findings);
    }
    let metadata = TemplateMetadata {
        annotations: spec.annotations.as_ref().map(|old| node_annotations(old, findings)),
        labels: spec.labels.clone(),
    };
    Some(metadata).filter(|metadata| *metadata != TemplateMetadata::default())
}

fn node_annotations(
    old: &BTreeMap<String, String>,
    findings: &mut Findings,
) -> BTreeMap<String, String> {
    let mut annotations = old.clone();
    annotations.retain(|key, _| !OBSOLETE_ANNOTATIONS.contains(&key.as_str()));
    for (old_key, new_key) in RENAMED_NODE_ANNOTATIONS {
        if let Some(value) = annotations.remove(old_key) {
            findings.warning(
                format!("spec.annotations[{old_key:?}]"),
                format!("becomes {new_key:?}, which keeps nodes from every voluntary disruption"),
            );
            annotations.entry(new_key.to_owned()).or_insert(value);
        }
    }
    annotations
}

fn expire_after(spec: &ProvisionerSpec, findings: &mut Findings) -> String {
    let Some(seconds) = spec.ttl_seconds_until_expired else { return NEVER.to_owned() };
    duration(seconds, "spec.ttlSecondsUntilExpired", findings)
}

fn duration(seconds: i64, field: &str, findings: &mut Findings) -> String {
    GoDuration::from_seconds(seconds).map(|duration| duration.to_string()).unwrap_or_else(|| {
        findings.error(field, "is longer than 292 years; leave it out for never");
        NEVER.to_owned()
    })
}

fn disruption(spec: &ProvisionerSpec, options: &Options, findings: &mut Findings) -> Disruption {
    let (policy, after) = if spec.consolidation_enabled() {
        (ConsolidationPolicy::WhenEmptyOrUnderutilized, "0s".to_owned())
    } else if let Some(seconds) = spec.ttl_seconds_after_empty {
        let after = duration(seconds, "spec.ttlSecondsAfterEmpty", findings);
        (ConsolidationPolicy::WhenEmpty, after)
    } else {
        // Saying nothing meant that nodes stay; leaving the fields out would mean the opposite.
        (ConsolidationPolicy::WhenEmpty, NEVER.to_owned())
    };
    let everything = Budget { nodes: "100%".to_owned(), ..Budget::default() };
    Disruption {
        budgets: options.strict_budgets.then(|| vec![everything]),
        consolidate_after: Some(after),
        consolidation_policy: Some(policy),
    }
}

fn requirements(spec: &ProvisionerSpec, findings: &mut Findings) -> Vec<Requirement> {
    let written = spec.requirements.as_deref().unwrap_or_default();
    for (index, entry) in written.iter().enumerate() {
        refuse_removed_label(&entry.key, &format!("spec.requirements[{index}].key"), findings);
    }
    let all = with_default_requirements(written);
    if all.len() > REQUIREMENTS_MAX {
        findings.error(
            "spec.requirements",
            format!("are {} with the defaults; a NodePool may have {REQUIREMENTS_MAX}", all.len()),
        );
    }
    all.into_iter().map(requirement).collect()
}

fn requirement(entry: NodeSelectorRequirement) -> Requirement {
    Requirement {
        key: normalized(&entry.key).to_owned(),
        operator: entry.operator,
        values: entry.values,
        min_values: None,
    }
}

fn refuse_removed_label(key: &str, field: &str, findings: &mut Findings) {
    if [INSTANCE_PODS, INSTANCE_AMI_ID].contains(&key) {
        findings.error(
            field,
            format!(
                "label {key:?} is no more and has no successor; constrain nodes by other labels"
            ),
        );
    }
}

fn taints(old: &Option<Vec<Taint>>, list: &str, findings: &mut Findings) -> Option<Vec<Taint>> {
    let mut taints = old.clone()?;
    for (index, taint) in taints.iter_mut().enumerate() {
        if taint.effect.is_empty() {
            findings.error(
                format!("spec.{list}[{index}].effect"),
                "a NodePool's taint needs an effect: NoSchedule, PreferNoSchedule or NoExecute",
            );
        }
        // An empty value and none are the same taint, but a NodePool admits only the latter.
        taint.value = taint.value.take().filter(|value| !value.is_empty());
    }
    Some(taints)
}
