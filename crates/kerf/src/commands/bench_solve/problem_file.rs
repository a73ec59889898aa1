//! Reads a problem file.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use k8s_openapi::api::core::v1 as core;
use kerf_api::node_pool::NodePool;
use kerf_engine::Settings;
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_kube::{Manifests, Owner, Sourced, Workload};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{LabelRules, ProviderLabels};
use kerf_scheduler::SchedulerSettings;
use serde::Deserialize;
use serde_json::Value;

use super::instance_type::InstanceTypeFile;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProblemFile {
    version: u32,
    workload: String,
    instance_types: Option<Vec<InstanceTypeFile>>,
    node_pools: Option<Vec<NodePool>>,
    pod_groups: Option<Vec<PodGroup>>,
    pods: Option<Vec<Value>>,
    daemon_sets: Option<Vec<Value>>,
    nodes: Option<Vec<Value>>,
    persistent_volume_claims: Option<Vec<Value>>,
    persistent_volumes: Option<Vec<Value>>,
    storage_classes: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodGroup {
    count: i64,
    name_prefix: String,
    pod: core::Pod,
}

/// A problem file.
pub(super) struct BenchProblem {
    pub(super) workload: String,
    pub(super) manifests: Manifests,
    /// What every pool is offered.
    pub(super) instance_types: Arc<[InstanceType]>,
    pub(super) settings: Settings,
}

/// Reads a problem file.
pub(super) fn read(path: &str) -> Result<BenchProblem> {
    let text = std::fs::read_to_string(path).with_context(|| format!("could not read {path}"))?;
    let file: ProblemFile = serde_json::from_str(&text).with_context(|| path.to_owned())?;
    anyhow::ensure!(file.version == 1, "{path}: version {} is not known", file.version);
    let types = file.instance_types.into_iter().flatten().map(InstanceTypeFile::read);
    let instance_types: Arc<[InstanceType]> = types.collect::<Result<Vec<_>>>()?.into();
    let mut manifests = Manifests::default();
    let objects = [
        file.pods,
        file.daemon_sets,
        file.nodes,
        file.persistent_volume_claims,
        file.persistent_volumes,
        file.storage_classes,
    ];
    for (source, object) in objects.into_iter().flatten().flatten().enumerate() {
        manifests.add(source, object).map_err(|problem| anyhow!("{path}: {problem}"))?;
    }
    for group in file.pod_groups.into_iter().flatten() {
        manifests.workloads.push(Sourced { source: 0, object: workload(group) });
    }
    let mut node_classes = Vec::new();
    for object in file.node_pools.into_iter().flatten() {
        let class = &object.spec.template.spec.node_class_ref;
        node_classes.push(NodeClassKind::named(&class.group, &class.kind));
        manifests.node_pools.push(Sourced { source: 0, object });
    }
    let label_rules = label_rules(&instance_types);
    let scheduler = SchedulerSettings { label_rules, ..SchedulerSettings::default() };
    let provider = ProviderInfo::with_node_classes(node_classes);
    let settings = Settings { scheduler, provider, ..Settings::default() };
    Ok(BenchProblem { workload: file.workload, manifests, instance_types, settings })
}

fn workload(group: PodGroup) -> Workload {
    let metadata = group.pod.metadata;
    Workload {
        owner: Owner { kind: "PodGroup".to_owned(), name: group.name_prefix.clone() },
        namespace: metadata.namespace.clone().unwrap_or_else(|| "default".to_owned()),
        controller: None,
        template: core::PodTemplateSpec { metadata: Some(metadata), spec: group.pod.spec },
        replicas: group.count,
        name_prefix: group.name_prefix,
        first_ordinal: 0,
        claim_templates: Vec::new(),
        selector: None,
        template_of: None,
        ended: None,
    }
}

/// Every label of an instance type is well known.
fn label_rules(types: &[InstanceType]) -> LabelRules {
    let keys = types.iter().flat_map(|it| it.requirements.iter()).map(|entry| entry.key.as_str());
    LabelRules::core().with(&ProviderLabels::new().well_known(keys))
}
