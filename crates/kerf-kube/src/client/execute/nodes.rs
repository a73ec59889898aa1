//! Writing nodes.

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is the report")]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Node, Taint as StoredTaint};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kerf_api::node_claim::NodeClaim;
use kerf_engine::action::{CordonChange, NodePatch};
use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::observed::Revision;
use kerf_model::taint::Taint;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource};
use serde::Serialize;
use serde_json::{Value, json};

use super::claims::{deleted, of_identity};
use crate::client::observe::node;

/// The code of an answer to a change whose conditions do not hold.
const CONDITIONS_DO_NOT_HOLD: u16 = 422;

/// Changes a node. Kubelets and controllers write to nodes all the time, so the change depends only
/// on the lists that it replaces; an old state of these makes it a conflict.
pub(super) async fn patch(
    client: &Client,
    name: &str,
    uid: &str,
    patch: &NodePatch,
) -> kube::Result<Outcome> {
    let api = Api::<Node>::all(client.clone());
    let found = api.get_opt(name).await?;
    let Some(before) = found.filter(|node| node.metadata.uid.as_deref() == Some(uid)) else {
        return Ok(Outcome::NotFound);
    };
    let steps: json_patch::Patch =
        serde_json::from_value(Value::Array(steps(&before, uid, patch))).expect("they are steps");
    let stored = match api.patch(name, &PatchParams::default(), &Patch::<()>::Json(steps)).await {
        Err(kube::Error::Api(status)) if status.code == CONDITIONS_DO_NOT_HOLD => {
            return Ok(Outcome::Failed(Failure::Conflict));
        }
        answer => answer?,
    };
    Ok(stored_node(&stored))
}

/// A node as it is stored. What volume drivers report lies elsewhere; the observer puts it back.
pub(super) fn stored_node(stored: &Node) -> Outcome {
    match node::read(stored, BTreeMap::new()) {
        Ok(node) => Outcome::Stored(Box::new(Object::Node(node))),
        Err(problems) => Outcome::Failed(Failure::Invalid {
            message: problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        }),
    }
}

/// Asks for the deletion of a node. One that waits for its finalizers is answered as it then is:
/// otherwise the next word of the watch, of some change before, would have it deleted again.
pub(super) async fn delete(client: &Client, name: &str, uid: &str) -> kube::Result<Outcome> {
    let api = Api::<Node>::all(client.clone());
    let answer = api.delete(name, &of_identity(uid)).await;
    let left = answer.as_ref().ok().and_then(|answer| answer.as_ref().left());
    let going = left.filter(|node| node.metadata.deletion_timestamp.is_some());
    match going.map(stored_node) {
        Some(stored @ Outcome::Stored(_)) => Ok(stored),
        _ => deleted(answer.map(drop)),
    }
}

/// The steps of a change, each list with the condition that it is still as it was.
fn steps(before: &Node, uid: &str, patch: &NodePatch) -> Vec<Value> {
    let metadata = &before.metadata;
    let mut steps = vec![json!({ "op": "test", "path": "/metadata/uid", "value": uid })];
    if let Some(Revision(revision)) = patch.revision {
        let version = revision.to_string();
        steps.push(json!({ "op": "test", "path": "/metadata/resourceVersion", "value": version }));
    }
    let (labels, annotations) = (metadata.labels.as_ref(), metadata.annotations.as_ref());
    set_all("/metadata/labels", labels, &patch.labels, &mut steps);
    remove_all("/metadata/labels", labels, &patch.labels_removed, &mut steps);
    set_all("/metadata/annotations", annotations, &patch.annotations, &mut steps);
    remove_all("/metadata/annotations", annotations, &patch.annotations_removed, &mut steps);
    let finalizers = patch.finalizers(metadata.finalizers.clone().unwrap_or_default());
    replace("/metadata/finalizers", &metadata.finalizers, finalizers, &mut steps);
    let owners = metadata.owner_references.clone().unwrap_or_default();
    replace(
        "/metadata/ownerReferences",
        &metadata.owner_references,
        owned(owners, patch),
        &mut steps,
    );
    let taints = before.spec.as_ref().and_then(|spec| spec.taints.clone());
    let tainted = tainted(taints.clone().unwrap_or_default(), patch);
    replace("/spec/taints", &taints, tainted, &mut steps);
    let is_cordoned = before.spec.as_ref().is_some_and(|spec| spec.unschedulable == Some(true));
    match patch.cordon {
        CordonChange::Cordon => {
            steps.push(json!({ "op": "add", "path": "/spec/unschedulable", "value": true }));
        }
        CordonChange::Uncordon if is_cordoned => {
            steps.push(json!({ "op": "remove", "path": "/spec/unschedulable" }));
        }
        CordonChange::Uncordon | CordonChange::None => {}
    }
    steps
}

fn set_all(
    path: &str,
    before: Option<&BTreeMap<String, String>>,
    values: &BTreeMap<String, String>,
    steps: &mut Vec<Value>,
) {
    if before.is_none() && !values.is_empty() {
        steps.push(json!({ "op": "test", "path": path, "value": null }));
        steps.push(json!({ "op": "add", "path": path, "value": {} }));
    }
    for (key, value) in values {
        let path = format!("{path}/{}", escaped(key));
        steps.push(json!({ "op": "add", "path": path, "value": value }));
    }
}

fn remove_all(
    path: &str,
    before: Option<&BTreeMap<String, String>>,
    keys: &BTreeSet<String>,
    steps: &mut Vec<Value>,
) {
    for key in keys.iter().filter(|key| before.is_some_and(|all| all.contains_key(*key))) {
        steps.push(json!({ "op": "remove", "path": format!("{path}/{}", escaped(key)) }));
    }
}

/// A key as a part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn replace<T: Serialize + PartialEq>(
    path: &str,
    before: &Option<Vec<T>>,
    after: Vec<T>,
    steps: &mut Vec<Value>,
) {
    if before.as_deref().unwrap_or_default() != after {
        steps.push(json!({ "op": "test", "path": path, "value": before }));
        steps.push(json!({ "op": "add", "path": path, "value": after }));
    }
}

fn owned(mut owners: Vec<OwnerReference>, patch: &NodePatch) -> Vec<OwnerReference> {
    if let Some((name, uid)) = &patch.owner {
        owners.retain(|owner| owner.kind != NodeClaim::kind(&()));
        owners.push(OwnerReference {
            api_version: NodeClaim::api_version(&()).into_owned(),
            kind: NodeClaim::kind(&()).into_owned(),
            name: name.to_string(),
            uid: uid.to_string(),
            block_owner_deletion: Some(true),
            controller: None,
        });
    }
    owners
}

fn tainted(taints: Vec<StoredTaint>, patch: &NodePatch) -> Vec<StoredTaint> {
    let stored = |taint: &Taint| StoredTaint {
        key: taint.key.clone(),
        value: (!taint.value.is_empty()).then(|| taint.value.clone()),
        effect: taint.effect.to_string(),
        time_added: None,
    };
    let kept = taints.into_iter().filter(|taint| !patch.removes(&taint.key, &taint.effect));
    kept.chain(patch.taints_added.iter().map(stored)).collect()
}
