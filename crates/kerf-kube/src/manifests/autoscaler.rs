//! Autoscalers: how many pods of a workload there will be at least.
//!
//! A workload that leaves its number of pods to an autoscaler has none in its manifest, which
//! means one. The autoscaler will not leave it at that.

use kerf_api::FieldError;
use serde::Deserialize;
use serde_json::Value;

use super::intake::read;
use super::{Manifests, Sourced};
use crate::workload::{Owner, Workload};

/// What a KEDA ScaledObject says while it must not scale.
const PAUSED_REPLICAS: &str = "autoscaling.keda.sh/paused-replicas";
/// The kind of a target that does not say.
const TARGET_KIND_DEFAULT: &str = "Deployment";

/// A HorizontalPodAutoscaler or a ScaledObject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscaler {
    kind: &'static str,
    name: String,
    namespace: String,
    target: Owner,
    /// The field that holds the lower bound.
    min_field: &'static str,
    min: i64,
    max_field: &'static str,
    max: Option<i64>,
    /// How many pods it holds the workload at, if it is paused.
    paused_at: Option<i64>,
    /// Whether it leaves a workload alone that is scaled to none.
    respects_none: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
    namespace: Option<String>,
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
}

/// The fields of both kinds; neither has those of the other.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    scale_target_ref: Target,
    min_replicas: Option<i64>,
    max_replicas: Option<i64>,
    min_replica_count: Option<i64>,
    max_replica_count: Option<i64>,
}

#[derive(Deserialize)]
struct Target {
    kind: Option<String>,
    name: String,
}

impl Autoscaler {
    /// Reads a HorizontalPodAutoscaler of any version.
    pub(super) fn horizontal(value: Value) -> Result<Self, FieldError> {
        let Document { metadata, spec } = read(value)?;
        Ok(Self {
            kind: "HorizontalPodAutoscaler",
            name: metadata.name,
            namespace: metadata.namespace.unwrap_or_else(|| "default".to_owned()),
            target: spec.scale_target_ref.owner(),
            min_field: "minReplicas",
            min: spec.min_replicas.unwrap_or(1),
            max_field: "maxReplicas",
            max: spec.max_replicas,
            paused_at: None,
            respects_none: true,
        })
    }

    /// Reads a ScaledObject of KEDA.
    pub(super) fn scaled_object(value: Value) -> Result<Self, FieldError> {
        let Document { metadata, spec } = read(value)?;
        let paused = metadata.annotations.get(PAUSED_REPLICAS);
        Ok(Self {
            kind: "ScaledObject",
            name: metadata.name,
            namespace: metadata.namespace.unwrap_or_else(|| "default".to_owned()),
            target: spec.scale_target_ref.owner(),
            min_field: "minReplicaCount",
            min: spec.min_replica_count.unwrap_or(0),
            max_field: "maxReplicaCount",
            max: spec.max_replica_count,
            paused_at: paused.and_then(|count| count.parse().ok()),
            respects_none: false,
        })
    }

    /// How many pods a workload has that asks for so many, and why.
    fn replicas(&self, asked: i64) -> (i64, String) {
        let Self { kind, name, min, min_field, max_field, .. } = self;
        let by = format!("{kind} {name}");
        if let Some(count) = self.paused_at {
            return (count, format!("at which {by} is paused"));
        }
        if asked == 0 && self.respects_none {
            return (0, format!("as it asks for; {by} leaves it at that"));
        }
        if asked < *min {
            return (*min, format!("the {min_field} of {by}"));
        }
        match self.max {
            Some(max) if asked > max => (max, format!("the {max_field} of {by}")),
            Some(max) => (asked, format!("as it asks for; {by} keeps {min} to {max}")),
            None => (asked, format!("as it asks for; {by} keeps at least {min}")),
        }
    }
}

impl Target {
    fn owner(self) -> Owner {
        let kind = self.kind.unwrap_or_else(|| TARGET_KIND_DEFAULT.to_owned());
        Owner { kind, name: self.name }
    }
}

impl Manifests {
    /// Gives each workload the number of pods its autoscaler keeps it at, and says so.
    pub(super) fn scale(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        for Sourced { object: autoscaler, .. } in &self.autoscalers {
            let Autoscaler { kind, name, namespace, target, .. } = autoscaler;
            let is_target = |it: &&mut Sourced<Workload>| {
                it.object.namespace == *namespace && it.object.owner == *target
            };
            let what = format!("{} {namespace}/{}", target.kind, target.name);
            notes.push(match self.workloads.iter_mut().find(is_target) {
                Some(workload) => {
                    let (count, why) = autoscaler.replicas(workload.object.replicas);
                    workload.object.replicas = count;
                    let plural = if count == 1 { "pod" } else { "pods" };
                    format!("{what} has {count} {plural}, {why}")
                }
                None => format!("{what} not given: {kind} {name} has nothing to scale"),
            });
        }
        notes
    }
}
