//! Writing nodes.

use k8s_openapi::api::core::v1::Node;
use kerf_api::node_claim::NodeClaim;
use kerf_engine::action::NodePatch;
use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::observed::Revision;
use kerf_model::taint::Taint;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource};
use serde_json::{Value, json};

use super::claims::{deleted, metadata, of_identity};
use crate::client::observe::node;

/// Changes a node.
pub(super) async fn patch(
    client: &Client,
    name: &str,
    revision: Revision,
    patch: &NodePatch,
) -> kube::Result<Outcome> {
    let api = Api::<Node>::all(client.clone());
    let body = body(revision, patch);
    let stored = api.patch(name, &PatchParams::default(), &Patch::Merge(body)).await?;
    // What volume drivers report lies elsewhere; the observer puts it back.
    Ok(match node::read(&stored, std::collections::BTreeMap::new()) {
        Ok(node) => Outcome::Stored(Box::new(Object::Node(node))),
        Err(problems) => Outcome::Failed(Failure::Invalid {
            message: problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        }),
    })
}

/// Asks for the deletion of a node.
pub(super) async fn delete(client: &Client, name: &str, uid: &str) -> kube::Result<Outcome> {
    let api = Api::<Node>::all(client.clone());
    deleted(api.delete(name, &of_identity(uid)).await.map(drop))
}

fn body(revision: Revision, patch: &NodePatch) -> Value {
    let mut metadata = metadata(&patch.metadata, revision);
    for label in &patch.labels_removed {
        metadata["labels"][label] = Value::Null;
    }
    if let Some((name, uid)) = &patch.owner {
        metadata["ownerReferences"] = json!([{
            "apiVersion": NodeClaim::api_version(&()),
            "kind": NodeClaim::kind(&()),
            "name": &**name,
            "uid": &**uid,
            "blockOwnerDeletion": true,
        }]);
    }
    let mut body = json!({ "metadata": metadata });
    if let Some(taints) = &patch.taints {
        let taints: Vec<Value> = taints.iter().map(taint).collect();
        body["spec"] = json!({ "taints": taints });
    }
    body
}

fn taint(taint: &Taint) -> Value {
    let mut body = json!({ "key": taint.key, "effect": taint.effect.to_string() });
    if !taint.value.is_empty() {
        body["value"] = json!(taint.value);
    }
    body
}
