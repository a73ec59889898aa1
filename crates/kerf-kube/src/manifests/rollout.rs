//! Argo Rollouts: Deployments under another name, some with the template of a Deployment.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde::Deserialize;

use super::{Manifests, Sourced};
use crate::default_spread::ControllerSelector;
use crate::workload::{Owner, ROLLOUT, Workload};

/// A Rollout, as far as it matters where its pods run.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Rollout {
    metadata: ObjectMeta,
    spec: RolloutSpec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RolloutSpec {
    replicas: Option<i32>,
    selector: LabelSelector,
    template: PodTemplateSpec,
    workload_ref: Option<WorkloadRef>,
}

#[derive(Clone, Debug, Deserialize)]
struct WorkloadRef {
    kind: String,
    name: String,
}

impl From<Rollout> for Workload {
    fn from(rollout: Rollout) -> Self {
        let RolloutSpec { replicas, selector, template, workload_ref } = rollout.spec;
        let reference = workload_ref.map(|it| Owner { kind: it.kind, name: it.name });
        Self {
            selector: Some(ControllerSelector::Selector(selector)),
            template_of: reference,
            ..Self::new(ROLLOUT, &rollout.metadata, template, replicas.unwrap_or(1).into())
        }
    }
}

impl Manifests {
    /// Gives Rollouts that name a Deployment its template. Such a Deployment has no pods of its
    /// own, whatever it asks for: the Rollout takes its place. Says so.
    pub(super) fn follow_references(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        for index in 0..self.workloads.len() {
            let rollout = &self.workloads[index].object;
            let Some(reference) = rollout.template_of.clone() else { continue };
            let (name, namespace) = (rollout.owner.name.clone(), rollout.namespace.clone());
            let Owner { kind, name: target } = &reference;
            let is_target = |it: &&mut Sourced<Workload>| {
                it.object.namespace == namespace && it.object.owner == reference
            };
            let Some(found) = self.workloads.iter_mut().find(is_target) else {
                self.workloads[index].object.replicas = 0;
                let missing = format!("{kind} {namespace}/{target} not given");
                notes.push(format!("{missing}: Rollout {name} is not planned for"));
                continue;
            };
            found.object.replicas = 0;
            let (template, selector) =
                (found.object.template.clone(), found.object.selector.clone());
            let rollout = &mut self.workloads[index].object;
            (rollout.template, rollout.selector) = (template, selector);
            notes.push(format!("{kind} {namespace}/{target} has no pods: Rollout {name} has them"));
        }
        notes
    }
}
