//! Providers' settings objects, of whatever kind.

use kerf_api::Condition;
use kerf_engine::condition::READY;
use kerf_engine::observed::{NodeClass, Readiness};
use kerf_model::node_spec::NodeClassRef;
use kube::api::{ApiResource, DynamicObject};

use super::meta::meta;

/// Group, kind and name.
pub(super) fn key(class: &DynamicObject, kind: &ApiResource) -> NodeClassRef {
    NodeClassRef {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        name: class.metadata.name.clone().unwrap_or_default(),
    }
}

/// Reads a node class: only whether nodes can be made with it.
pub(super) fn read(class: &DynamicObject, kind: &ApiResource) -> NodeClass {
    let conditions = class.data.pointer("/status/conditions").cloned().unwrap_or_default();
    let conditions: Vec<Condition> = serde_json::from_value(conditions).unwrap_or_default();
    let ready = conditions.into_iter().find(|condition| condition.type_ == READY);
    let readiness = match ready {
        Some(ready) if ready.status == "True" => Readiness::Ready,
        Some(ready) if ready.status == "False" => {
            Readiness::NotReady { reason: ready.reason, message: ready.message }
        }
        _ => Readiness::Unknown,
    };
    NodeClass { meta: meta(&class.metadata), key: key(class, kind), readiness }
}
