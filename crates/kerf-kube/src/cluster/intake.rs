//! One object of the input into the cluster.

use kerf_api::Problem;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kinds::{self, Known};
use super::{Cluster, Sourced};

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intake {
    /// It is part of the cluster.
    Read,
    /// Its kind has no say in where pods stand, or none that is known.
    PassedOver,
}

/// Reads an object's JSON into its type, and says at which field it fails.
///
/// # Errors
/// A field is not of the type it must have, or is missing.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = error.path().to_string();
        let field = if field == "." { String::new() } else { field };
        Problem { field, message: error.into_inner().to_string() }
    })
}

impl Cluster {
    /// Takes an object of Kubernetes' own kinds in. `source` tells which of the input it was.
    ///
    /// # Errors
    /// What keeps the object from being read.
    pub fn add(&mut self, source: usize, value: Value) -> Result<Intake, Problem> {
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
                self.take(source, &kind, value).map(|()| Intake::Read)
            }
        }
    }

    fn take(&mut self, source: usize, kind: &str, value: Value) -> Result<(), Problem> {
        match kind {
            "Pod" => self.pods.push(Sourced { source, object: read(value)? }),
            "Node" => self.nodes.push(Sourced { source, object: read(value)? }),
            "DaemonSet" => self.daemon_sets.push(Sourced { source, object: read(value)? }),
            "Deployment" => self.keep::<k8s_openapi::api::apps::v1::Deployment>(source, value)?,
            "ReplicaSet" => self.keep::<k8s_openapi::api::apps::v1::ReplicaSet>(source, value)?,
            "StatefulSet" => self.keep::<k8s_openapi::api::apps::v1::StatefulSet>(source, value)?,
            "ReplicationController" => {
                self.keep::<k8s_openapi::api::core::v1::ReplicationController>(source, value)?;
            }
            "Job" => self.keep::<k8s_openapi::api::batch::v1::Job>(source, value)?,
            "PersistentVolumeClaim" => self.storage.add_claim(read(value)?),
            "PersistentVolume" => self.storage.add_volume(read(value)?),
            "StorageClass" => self.storage.add_class(read(value)?),
            "CSINode" => {
                let node: k8s_openapi::api::storage::v1::CSINode = read(value)?;
                self.csi_nodes.insert(node.metadata.name.clone().unwrap_or_default(), node);
            }
            "Namespace" => {
                let namespace: k8s_openapi::api::core::v1::Namespace = read(value)?;
                let metadata = namespace.metadata;
                let labels = metadata.labels.unwrap_or_default();
                self.namespaces.insert(metadata.name.unwrap_or_default(), labels);
            }
            "Service" => self.keep_service(read(value)?),
            other => unreachable!("the table of kinds reads {other}, this function must too"),
        }
        Ok(())
    }

    /// A Service without a selector finds nothing by itself.
    fn keep_service(&mut self, service: k8s_openapi::api::core::v1::Service) {
        if let Some(selector) = service.spec.and_then(|spec| spec.selector) {
            let namespace = crate::pod::namespace_of(&service.metadata);
            self.services.entry(namespace).or_default().push(selector);
        }
    }

    fn keep<T>(&mut self, source: usize, value: Value) -> Result<(), Problem>
    where
        T: DeserializeOwned + Into<crate::workload::Workload>,
    {
        let object: T = read(value)?;
        self.workloads.push(Sourced { source, object: object.into() });
        Ok(())
    }
}

fn problem(field: &str, message: String) -> Problem {
    Problem { field: field.to_owned(), message }
}

/// Pods that are created by hand may leave their name to the API server.
fn check_name(value: &Value) -> Result<(), Problem> {
    let given = |pointer: &str| {
        value.pointer(pointer).and_then(Value::as_str).is_some_and(|name| !name.is_empty())
    };
    if given("/metadata/name") || given("/metadata/generateName") {
        return Ok(());
    }
    Err(problem("metadata.name", "every object needs a name".to_owned()))
}
