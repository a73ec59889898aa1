//! One object of the input into the manifests.

use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::batch::v1 as batch;
use kerf_api::FieldError;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::autoscaler::Autoscaler;
use super::kinds::{self, Known};
use super::rollout::Rollout;
use super::{Manifests, Sourced};
use crate::client::{Change, WatchUpdate};
use crate::workload::Workload;

/// The annotation that says when Helm creates an object, and deletes it again.
const HELM_HOOK: &str = "helm.sh/hook";

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intake {
    /// It is one of the manifests.
    Read,
    /// Its kind has no say in where pods run, or none that is known.
    PassedOver,
    /// It runs only when somebody tests a Helm release, and is left out.
    HelmTest,
    /// It is one of the manifests, and runs only while a Helm release is changed.
    HelmHook,
}

/// Reads an object's JSON into its type, and says at which field it fails.
///
/// # Errors
/// A field is not of the type it must have, or is missing.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, FieldError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = error.path().to_string();
        let field = if field == "." { String::new() } else { field };
        FieldError { field, message: error.into_inner().to_string() }
    })
}

impl Manifests {
    /// Takes an object of Kubernetes' own kinds in. `source` tells which of the input it was.
    ///
    /// # Errors
    /// What keeps the object from being read.
    pub fn add(&mut self, source: usize, value: Value) -> Result<Intake, FieldError> {
        let text = |name: &str| match value.get(name).and_then(Value::as_str) {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(problem(name, format!("every manifest needs {name:?}"))),
        };
        let (api_version, kind) = (text("apiVersion")?, text("kind")?);
        match kinds::look_up(&api_version, &kind) {
            Known::Idle | Known::Foreign => Ok(Intake::PassedOver),
            Known::Unknown => {
                let known = kinds::readable();
                let message = format!(
                    "there is no kind {kind:?} in {api_version}; kinds that are read: {known}"
                );
                Err(problem("kind", message))
            }
            Known::Version(right) => {
                let message = format!("{kind} is not served in {api_version}; write {right}");
                Err(problem("apiVersion", message))
            }
            Known::Read => {
                check_name(&value)?;
                let intake = helm_hook(&kind, &value);
                if intake != Intake::HelmTest {
                    self.check_strictly(source, &kind, &value);
                    self.take(source, &kind, value)?;
                }
                Ok(intake)
            }
        }
    }

    fn take(&mut self, source: usize, kind: &str, value: Value) -> Result<(), FieldError> {
        match kind {
            "Pod" => self.pods.push(Sourced { source, object: read(value)? }),
            "PodTemplate" => self.pod_templates.push(Sourced { source, object: read(value)? }),
            "Deployment" => self.keep::<apps::Deployment>(source, value).map(drop)?,
            "Job" => self.keep::<batch::Job>(source, value).map(drop)?,
            "Rollout" => self.keep::<Rollout>(source, value).map(drop)?,
            "HorizontalPodAutoscaler" => {
                let object = Autoscaler::horizontal(value)?;
                self.autoscalers.push(Sourced { source, object });
            }
            "ScaledObject" => {
                let object = Autoscaler::scaled_object(value)?;
                self.autoscalers.push(Sourced { source, object });
            }
            "ReplicaSet" => {
                let set = self.keep(source, value)?;
                self.report(source, WatchUpdate::ReplicaSet, set);
            }
            "StatefulSet" => {
                let set = self.keep(source, value)?;
                self.report(source, WatchUpdate::StatefulSet, set);
            }
            "ReplicationController" => {
                let controller = self.keep(source, value)?;
                self.report(source, WatchUpdate::ReplicationController, controller);
            }
            "Node" => self.report(source, WatchUpdate::Node, read(value)?),
            "DaemonSet" => self.report(source, WatchUpdate::DaemonSet, read(value)?),
            "PersistentVolumeClaim" => {
                self.report(source, WatchUpdate::VolumeClaim, read(value)?);
            }
            "PersistentVolume" => self.report(source, WatchUpdate::Volume, read(value)?),
            "StorageClass" => self.report(source, WatchUpdate::StorageClass, read(value)?),
            "CSINode" => self.report(source, WatchUpdate::CsiNode, read(value)?),
            "Namespace" => self.report(source, WatchUpdate::Namespace, read(value)?),
            "Service" => self.report(source, WatchUpdate::Service, read(value)?),
            "PodDisruptionBudget" => {
                self.report(source, WatchUpdate::PodDisruptionBudget, read(value)?);
            }
            other => unreachable!("the table of kinds reads {other}, this function must too"),
        }
        Ok(())
    }

    /// Takes an object in as a watch would report it.
    pub fn report<K>(&mut self, source: usize, kind: fn(Change<K>) -> WatchUpdate, object: K) {
        self.others.push(Sourced { source, object: kind(Change::Is(Box::new(object))) });
    }

    fn keep<T>(&mut self, source: usize, value: Value) -> Result<T, FieldError>
    where
        T: Clone + DeserializeOwned + Into<Workload>,
    {
        let object: T = read(value)?;
        self.workloads.push(Sourced { source, object: object.clone().into() });
        Ok(object)
    }
}

/// What an object is to Helm. Hooks that test a release have two older names.
fn helm_hook(kind: &str, value: &Value) -> Intake {
    let annotation = value.pointer("/metadata/annotations").and_then(|all| all.get(HELM_HOOK));
    let Some(hooks) = annotation.and_then(Value::as_str) else { return Intake::Read };
    let mut hooks = hooks.split(',').map(str::trim);
    if hooks.any(|hook| ["test", "test-success", "test-failure"].contains(&hook)) {
        Intake::HelmTest
    } else if ["Pod", "Job"].contains(&kind) {
        Intake::HelmHook
    } else {
        Intake::Read
    }
}

fn problem(field: &str, message: String) -> FieldError {
    FieldError { field: field.to_owned(), message }
}

/// Pods that are created by hand may leave their name to the API server.
fn check_name(value: &Value) -> Result<(), FieldError> {
    let given = |pointer: &str| {
        value.pointer(pointer).and_then(Value::as_str).is_some_and(|name| !name.is_empty())
    };
    if given("/metadata/name") || given("/metadata/generateName") {
        return Ok(());
    }
    Err(problem("metadata.name", "every object needs a name".to_owned()))
}
