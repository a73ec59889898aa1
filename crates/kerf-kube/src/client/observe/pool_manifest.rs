//! Pools as JSON, and what node classes tell of their subnets.

use std::sync::Arc;

use kerf_engine::observed::{NodeClassSubnets, PoolManifest, PoolManifestKey};
use kube::api::{ApiResource, DynamicObject};
use serde_json::{Value, json};

use super::meta::{meta, name_of};
use super::node_class;

/// Kind and name of a pool.
pub(super) fn key(pool: &DynamicObject, kind: &ApiResource) -> PoolManifestKey {
    PoolManifestKey { kind: Arc::from(kind.kind.as_str()), name: name_of(&pool.metadata) }
}

/// A pool without its status. Items of a list do not tell their kind.
pub(crate) fn read(pool: DynamicObject, kind: &ApiResource) -> PoolManifest {
    let (meta, key) = (meta(&pool.metadata), key(&pool, kind));
    let mut object = json!(pool);
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
        fields.insert("apiVersion".to_owned(), json!(kind.api_version));
        fields.insert("kind".to_owned(), json!(kind.kind));
    }
    PoolManifest { meta, key, object: Arc::new(object) }
}

/// The part of a node class's status that tells its subnets.
pub(super) fn subnets(class: &DynamicObject, kind: &ApiResource) -> NodeClassSubnets {
    let subnets = class.data.pointer("/status/subnets").cloned().unwrap_or(Value::Null);
    NodeClassSubnets {
        meta: meta(&class.metadata),
        key: node_class::key(class, kind),
        object: Arc::new(json!({ "status": { "subnets": subnets } })),
    }
}
