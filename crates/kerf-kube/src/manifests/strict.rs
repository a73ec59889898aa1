//! What an API server would refuse, or silently drop, in objects of Kubernetes' own kinds.

use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::batch::v1 as batch;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kerf_model::quantity::Quantity;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::unknown_field::{UnknownField, unknown_fields};
use super::{Manifests, Sourced};

/// Something an API server would not take as it stands. The object is planned for all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestWarning {
    /// The path of the field.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
    /// For a field that does not exist: its name, and the names there are.
    pub unknown: Option<(String, &'static [&'static str])>,
}

impl Manifests {
    /// Notes what an API server would not take of an object that somebody wrote. One that an API server has
    /// stored is what it is.
    pub(super) fn check_strictly(&mut self, source: usize, kind: &str, value: &Value) {
        if value.pointer("/metadata/resourceVersion").is_some() {
            return;
        }
        let warnings = warnings(kind, value).into_iter();
        self.warnings.extend(warnings.map(|object| Sourced { source, object }));
    }
}

fn warnings(kind: &str, value: &Value) -> Vec<ManifestWarning> {
    let unknown = match kind {
        "Pod" => unknown_fields::<core::Pod>(value, ""),
        "Deployment" => unknown_fields::<apps::Deployment>(value, ""),
        "ReplicaSet" => unknown_fields::<apps::ReplicaSet>(value, ""),
        "StatefulSet" => unknown_fields::<apps::StatefulSet>(value, ""),
        "DaemonSet" => unknown_fields::<apps::DaemonSet>(value, ""),
        "Job" => unknown_fields::<batch::Job>(value, ""),
        "ReplicationController" => unknown_fields::<core::ReplicationController>(value, ""),
        "PersistentVolumeClaim" => unknown_fields::<core::PersistentVolumeClaim>(value, ""),
        "Rollout" => match value.pointer("/spec/template") {
            Some(template) => unknown_fields::<core::PodTemplateSpec>(template, "spec.template"),
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    // What a status says is not the author's.
    let unknown = unknown.into_iter().filter(|field| !field.path.starts_with("status"));
    let mut warnings: Vec<ManifestWarning> = unknown.map(no_such_field).collect();
    warnings.extend(unselected(kind, value));
    let (spec, path) = match kind {
        "Pod" => (value.pointer("/spec"), "spec"),
        _ => (value.pointer("/spec/template/spec"), "spec.template.spec"),
    };
    if let Some(spec) = spec {
        warnings.extend(above_limits(spec, path));
    }
    warnings
}

fn no_such_field(field: UnknownField) -> ManifestWarning {
    ManifestWarning {
        field: field.path,
        message: "is no field that exists".to_owned(),
        unknown: Some((field.name, field.known)),
    }
}

/// A controller whose selector does not select the pods of its own template. Other kinds have no
/// selector, or are given one.
fn unselected(kind: &str, value: &Value) -> Option<ManifestWarning> {
    if !["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"].contains(&kind) {
        return None;
    }
    let wrong = |message: &str| {
        let (field, message) = ("spec.selector".to_owned(), message.to_owned());
        Some(ManifestWarning { field, message, unknown: None })
    };
    let selector: LabelSelector = part(value, "/spec/selector").unwrap_or_default();
    let is_empty = selector.match_labels.as_ref().is_none_or(|labels| labels.is_empty())
        && selector.match_expressions.as_ref().is_none_or(Vec::is_empty);
    if is_empty {
        return wrong("must select the pods of the template and is empty");
    }
    let labels = part(value, "/spec/template/metadata/labels").unwrap_or_default();
    (!selects(&selector, &labels))
        .then(|| wrong("does not select the labels in spec.template.metadata.labels"))
        .flatten()
}

type Labels = std::collections::BTreeMap<String, String>;

fn selects(selector: &LabelSelector, labels: &Labels) -> bool {
    let mut exact = selector.match_labels.iter().flatten();
    let mut expressions = selector.match_expressions.iter().flatten();
    exact.all(|(key, value)| labels.get(key) == Some(value))
        && expressions.all(|expression| {
            let value = labels.get(&expression.key);
            let listed = value.is_some_and(|value| {
                expression.values.as_ref().is_some_and(|values| values.contains(value))
            });
            match expression.operator.as_str() {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

/// Requests of containers that are above their limits.
fn above_limits(spec: &Value, path: &str) -> Vec<ManifestWarning> {
    let mut found = Vec::new();
    for list in ["containers", "initContainers"] {
        let containers = spec.get(list).and_then(Value::as_array).into_iter().flatten();
        for (index, container) in containers.enumerate() {
            let amounts = |name: &str| -> Vec<(String, Quantity)> {
                let all = container.pointer(&format!("/resources/{name}"));
                let all = all.and_then(Value::as_object).into_iter().flatten();
                all.filter_map(|(name, amount)| Some((name.clone(), quantity(amount)?))).collect()
            };
            let limits = amounts("limits");
            for (name, asked) in amounts("requests") {
                let limit = limits.iter().find(|(known, limit)| *known == name && asked > *limit);
                let Some((_, limit)) = limit else { continue };
                found.push(ManifestWarning {
                    field: format!("{path}.{list}[{index}].resources.requests.{name}"),
                    message: format!("{asked} is above the limit of {limit}"),
                    unknown: None,
                });
            }
        }
    }
    found
}

fn quantity(value: &Value) -> Option<Quantity> {
    let ApiQuantity(text) = serde_json::from_value(value.clone()).ok()?;
    Quantity::parse(&text).ok()
}

fn part<T: DeserializeOwned>(value: &Value, pointer: &str) -> Option<T> {
    serde_json::from_value(value.pointer(pointer)?.clone()).ok()
}
