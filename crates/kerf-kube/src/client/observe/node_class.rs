//! Providers' settings objects, of whatever kind.

use std::sync::Arc;

use kerf_api::Condition;
use kerf_engine::observed::{NodeClass, NodeClassStatus};
use kerf_model::node_spec::NodeClassRef;
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;

use super::meta::{conditions, meta, own_annotations};

/// Group, kind and name.
pub(crate) fn key(class: &DynamicObject, kind: &ApiResource) -> NodeClassRef {
    NodeClassRef {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        name: class.metadata.name.clone().unwrap_or_default(),
    }
}

/// Reads a node class. What its spec means is the provider's business.
pub(crate) fn read(class: &DynamicObject, kind: &ApiResource) -> NodeClass {
    let mut status = class.data.get("status").cloned().unwrap_or_default();
    let stored = status.as_object_mut().and_then(|status| status.remove("conditions"));
    let stored: Vec<Condition> =
        serde_json::from_value(stored.unwrap_or_default()).unwrap_or_default();
    NodeClass {
        annotations: own_annotations(&class.metadata),
        finalizers: class.metadata.finalizers.clone().unwrap_or_default(),
        spec: Arc::new(class.data.get("spec").cloned().unwrap_or_default()),
        status: NodeClassStatus {
            conditions: conditions(Some(&stored)),
            resolved: Arc::new(without_nothing(status)),
        },
        ..NodeClass::new(meta(&class.metadata), key(class, kind))
    }
}

/// A status without fields is none.
fn without_nothing(status: Value) -> Value {
    match status {
        Value::Object(fields) if fields.is_empty() => Value::Null,
        status => status,
    }
}
