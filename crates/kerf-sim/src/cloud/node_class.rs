//! The cloud's node class: managed by the engine, so that every run goes the whole way.

use std::sync::Arc;

use kerf_engine::condition::Status;
use kerf_engine::event::{ResolvedCondition, ResolvedNodeClass};
use kerf_engine::provider::{ManagedNodeClass, NodeClassKind, ProviderInfo, Tagging};
use kerf_engine::time::Span;
use kerf_model::node_spec::NodeClassRef;
use serde_json::json;

/// What the class of the simulated cloud must have found.
const SUBNETS_READY: &str = "SubnetsReady";

/// What the engine must know of the cloud.
pub(crate) fn provider(class: NodeClassRef) -> ProviderInfo {
    let NodeClassRef { group, kind, .. } = class;
    let key = |name: &str| format!("{group}/{name}");
    let managed = ManagedNodeClass {
        finalizer: key("termination"),
        hash_annotation: key("nodeclass-hash"),
        hash_version_annotation: key("nodeclass-hash-version"),
        hash_version: "v1".to_owned(),
        conditions: vec![SUBNETS_READY.to_owned()],
        resolve_every: Span::from_minutes(5),
    };
    let tagging = Tagging {
        annotations: vec![key("tagged")],
        node_tag: "Name".to_owned(),
        claim_tag: "karpenter.sh/nodeclaim".to_owned(),
    };
    let class = NodeClassKind { managed: Some(managed), ..NodeClassKind::named(&group, &kind) };
    ProviderInfo {
        name: "sim".to_owned(),
        tagging: Some(tagging),
        ..ProviderInfo::with_node_classes([class])
    }
}

/// What the cloud finds for every class.
pub(crate) fn resolve() -> ResolvedNodeClass {
    let condition = ResolvedCondition {
        kind: SUBNETS_READY.to_owned(),
        status: Status::True,
        reason: String::new(),
        message: String::new(),
    };
    let status = Arc::new(json!({ "subnets": [{ "id": "subnet-1" }] }));
    ResolvedNodeClass { conditions: vec![condition], status, ..ResolvedNodeClass::default() }
}
