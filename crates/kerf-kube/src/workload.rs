//! Workloads: pods that are foreseen from a template.

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, PodTemplateSpec,
    ReplicationController, Volume,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use crate::default_spread::ControllerSelector;
use crate::pod::namespace_of;

/// The two kinds whose pods are owned by a ReplicaSet they make.
const DEPLOYMENT: &str = "Deployment";
/// See [`DEPLOYMENT`].
pub(crate) const ROLLOUT: &str = "Rollout";

/// Said of the pods of Jobs that need none any more, or not now.
const COMPLETE: &str = "of Jobs that are complete";
const SUSPENDED: &str = "of Jobs that are suspended";

/// An owner of pods, as its pods' owner references name it within a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// Something that keeps a number of like pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The object itself, as owner references name it.
    pub owner: Owner,
    /// Where it and its pods lie.
    pub namespace: String,
    /// What controls it in turn, as a Deployment controls its ReplicaSets.
    pub controller: Option<Owner>,
    /// What its pods look like.
    pub template: PodTemplateSpec,
    /// How many pods there shall be; may be negative in a manifest nobody checked.
    pub replicas: i64,
    /// What the names of its pods begin with; a number follows.
    pub name_prefix: String,
    /// The number of its first pod.
    pub first_ordinal: i32,
    /// PersistentVolumeClaims made for each pod.
    pub claim_templates: Vec<PersistentVolumeClaim>,
    /// How it finds its pods, where that says which pods belong together.
    pub selector: Option<ControllerSelector>,
    /// The workload whose template it uses in place of its own.
    pub template_of: Option<Owner>,
    /// Why it asks for no pods although it did once, and how many those were.
    pub ended: Option<(&'static str, i64)>,
}

impl Workload {
    pub(crate) fn new(
        kind: &str,
        metadata: &ObjectMeta,
        template: PodTemplateSpec,
        replicas: i64,
    ) -> Self {
        Self {
            owner: Owner { kind: kind.to_owned(), name: metadata.name.clone().unwrap_or_default() },
            namespace: namespace_of(metadata),
            controller: controller_of(metadata),
            template,
            replicas,
            name_prefix: format!("{}-", metadata.name.as_deref().unwrap_or_default()),
            first_ordinal: 0,
            claim_templates: Vec::new(),
            selector: None,
            template_of: None,
            ended: None,
        }
    }

    /// The name of its pod with that number, counted from zero.
    #[must_use]
    pub fn pod_name(&self, number: i64) -> String {
        format!("{}{}", self.name_prefix, i64::from(self.first_ordinal) + number)
    }

    /// Its pod of that name, as its controller will make it. A volume of the name of a claim
    /// template gives way to that claim.
    pub(crate) fn pod(&self, name: &str) -> Pod {
        let template = self.template.metadata.clone().unwrap_or_default();
        let mut spec = self.template.spec.clone().unwrap_or_default();
        let claims = self.claims_of(name);
        if !claims.is_empty() {
            let names: Vec<_> = self.claim_templates.iter().map(name_of).collect();
            let own = spec.volumes.take().into_iter().flatten();
            let own = own.filter(|volume| !names.contains(&volume.name));
            let claimed = names.iter().zip(&claims).map(|(name, claim)| claimed(name, claim));
            spec.volumes = Some(claimed.chain(own).collect());
        }
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(self.namespace.clone()),
            labels: template.labels,
            annotations: template.annotations,
            owner_references: Some(vec![self.pods_owner()]),
            ..ObjectMeta::default()
        };
        Pod { metadata, spec: Some(spec), status: None }
    }

    /// The claims made together with its pod of that name: `<template>-<pod>`.
    pub(crate) fn claims_of(&self, pod_name: &str) -> Vec<PersistentVolumeClaim> {
        let claim = |template: &PersistentVolumeClaim| PersistentVolumeClaim {
            metadata: ObjectMeta {
                name: Some(format!("{}-{pod_name}", name_of(template))),
                namespace: Some(self.namespace.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(template.spec.clone().unwrap_or_default()),
            status: None,
        };
        self.claim_templates.iter().map(claim).collect()
    }

    /// The ReplicaSet a Deployment or a Rollout will make. In a cluster it also selects by a hash its pods carry.
    pub(crate) fn replica_set(&self) -> Option<ReplicaSet> {
        let selector = match (self.owner.kind.as_str(), &self.selector) {
            (DEPLOYMENT | ROLLOUT, Some(ControllerSelector::Selector(selector))) => {
                selector.clone()
            }
            _ => return None,
        };
        let metadata = ObjectMeta {
            name: Some(self.replica_set_name()),
            namespace: Some(self.namespace.clone()),
            ..ObjectMeta::default()
        };
        let spec = ReplicaSetSpec { selector, ..ReplicaSetSpec::default() };
        Some(ReplicaSet { metadata, spec: Some(spec), status: None })
    }

    /// No object that exists can have this name, which ends in a dash.
    fn replica_set_name(&self) -> String {
        format!("{}-", self.owner.name)
    }

    /// What its pods' owner references say.
    fn pods_owner(&self) -> OwnerReference {
        let Owner { kind, name } = self.owner.clone();
        let (kind, name) = match kind.as_str() {
            DEPLOYMENT | ROLLOUT => ("ReplicaSet".to_owned(), self.replica_set_name()),
            _ => (kind, name),
        };
        let api_version = match kind.as_str() {
            "ReplicaSet" | "StatefulSet" => "apps/v1",
            "Job" => "batch/v1",
            _ => "v1",
        };
        OwnerReference {
            api_version: api_version.to_owned(),
            // Like pods are known by it, so it must tell owners apart.
            uid: format!("{kind}/{}/{name}", self.namespace),
            kind,
            name,
            controller: Some(true),
            block_owner_deletion: None,
        }
    }
}

fn name_of(template: &PersistentVolumeClaim) -> String {
    template.metadata.name.clone().unwrap_or_default()
}

/// The volume of a claim.
fn claimed(name: &str, claim: &PersistentVolumeClaim) -> Volume {
    Volume {
        name: name.to_owned(),
        persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
            claim_name: name_of(claim),
            read_only: None,
        }),
        ..Volume::default()
    }
}

impl From<Deployment> for Workload {
    fn from(deployment: Deployment) -> Self {
        let spec = deployment.spec.unwrap_or_default();
        let replicas = spec.replicas.unwrap_or(1).into();
        // Its ReplicaSet, which the pods belong to, selects by the same and by its own hash.
        Self {
            selector: Some(ControllerSelector::Selector(spec.selector)),
            ..Self::new(DEPLOYMENT, &deployment.metadata, spec.template, replicas)
        }
    }
}

impl From<ReplicaSet> for Workload {
    fn from(set: ReplicaSet) -> Self {
        let spec = set.spec.unwrap_or_default();
        let replicas = spec.replicas.unwrap_or(1).into();
        Self {
            selector: Some(ControllerSelector::Selector(spec.selector)),
            ..Self::new("ReplicaSet", &set.metadata, spec.template.unwrap_or_default(), replicas)
        }
    }
}

impl From<StatefulSet> for Workload {
    fn from(set: StatefulSet) -> Self {
        let spec = set.spec.unwrap_or_default();
        let replicas = spec.replicas.unwrap_or(1).into();
        Self {
            first_ordinal: spec.ordinals.and_then(|ordinals| ordinals.start).unwrap_or(0),
            claim_templates: spec.volume_claim_templates.unwrap_or_default(),
            selector: Some(ControllerSelector::Selector(spec.selector)),
            ..Self::new("StatefulSet", &set.metadata, spec.template, replicas)
        }
    }
}

impl From<ReplicationController> for Workload {
    /// Without a selector it has that of its template's labels.
    fn from(controller: ReplicationController) -> Self {
        let spec = controller.spec.unwrap_or_default();
        let template = spec.template.unwrap_or_default();
        let labels = template.metadata.as_ref().and_then(|metadata| metadata.labels.clone());
        let selector = spec.selector.filter(|selector| !selector.is_empty()).or(labels);
        let replicas = spec.replicas.unwrap_or(1).into();
        Self {
            selector: selector.map(ControllerSelector::Labels),
            ..Self::new("ReplicationController", &controller.metadata, template, replicas)
        }
    }
}

impl From<Job> for Workload {
    /// As many pods as may run at once and are still to finish; none while it is suspended.
    fn from(job: Job) -> Self {
        let spec = job.spec.unwrap_or_default();
        let parallel = i64::from(spec.parallelism.unwrap_or(1));
        let done = job.status.and_then(|status| status.succeeded).unwrap_or(0);
        let left = match (spec.completions, spec.parallelism) {
            (Some(completions), _) => i64::from(completions) - i64::from(done),
            (None, None) => 1 - i64::from(done),
            (None, Some(_)) => parallel,
        };
        let replicas = parallel.min(left.max(0));
        let (replicas, ended) = match replicas {
            0 if done > 0 => (0, Some((COMPLETE, i64::from(done)))),
            count if spec.suspend == Some(true) => (0, Some((SUSPENDED, count))),
            count => (count, None),
        };
        Self { ended, ..Self::new("Job", &job.metadata, spec.template, replicas) }
    }
}

/// What controls an object, if anything does.
pub(crate) fn controller_of(metadata: &ObjectMeta) -> Option<Owner> {
    let owners = metadata.owner_references.iter().flatten();
    let controller = owners.into_iter().find(|owner| owner.controller == Some(true))?;
    Some(Owner { kind: controller.kind.clone(), name: controller.name.clone() })
}
