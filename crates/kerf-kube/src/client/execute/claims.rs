//! Writing claims.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kerf_api::convert::node_claim_from_model;
use kerf_api::legacy::{PROVISIONER_NAME, Provisioner};
use kerf_api::node_claim::NodeClaim;
use kerf_api::node_pool::NodePool;
use kerf_engine::action::{MetadataPatch, NewClaim};
use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::observed::{ClaimStatus, Revision};
use kerf_model::labels::well_known::TERMINATION_FINALIZER;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Client, Resource};
use serde_json::{Value, json};

use crate::client::observe::claim;

/// The kind of object that a claim's pool is stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    NodePool,
    Provisioner,
}

impl Owner {
    fn reference(self, name: &str, uid: &str) -> OwnerReference {
        let (api_version, kind) = match self {
            Self::NodePool => (NodePool::api_version(&()), NodePool::kind(&())),
            Self::Provisioner => (Provisioner::api_version(&()), Provisioner::kind(&())),
        };
        OwnerReference {
            api_version: api_version.into_owned(),
            kind: kind.into_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            block_owner_deletion: Some(true),
            controller: None,
        }
    }
}

/// Stores a claim. One that exists under the name already is this one: names are made from what
/// the claim was decided on, so that asking twice stores once.
pub(super) async fn create(client: &Client, new: &NewClaim, owner: Owner) -> kube::Result<Outcome> {
    let api = Api::<NodeClaim>::all(client.clone());
    let mut object = node_claim_from_model(&new.spec);
    let (pool, uid) = &new.pool;
    object.metadata.finalizers = Some(vec![TERMINATION_FINALIZER.to_owned()]);
    object.metadata.owner_references = Some(vec![owner.reference(pool, uid)]);
    // A claim says so by its label; the API takes no requirement on it.
    object.spec.requirements.retain(|entry| entry.key != PROVISIONER_NAME);
    match api.create(&PostParams::default(), &object).await {
        Ok(stored) => Ok(stored_claim(&stored)),
        Err(kube::Error::Api(status)) if status.code == 409 => {
            Ok(stored_claim(&api.get(&new.spec.name).await?))
        }
        Err(error) => Err(error),
    }
}

/// Changes the metadata of a claim.
pub(super) async fn patch(
    client: &Client,
    name: &str,
    revision: Revision,
    patch: &MetadataPatch,
) -> kube::Result<Outcome> {
    let api = Api::<NodeClaim>::all(client.clone());
    let body = json!({ "metadata": metadata(patch, revision) });
    let stored = api.patch(name, &PatchParams::default(), &Patch::Merge(body)).await?;
    Ok(stored_claim(&stored))
}

/// Replaces the status of a claim.
pub(super) async fn write_status(
    client: &Client,
    name: &str,
    revision: Revision,
    status: &ClaimStatus,
) -> kube::Result<Outcome> {
    let api = Api::<NodeClaim>::all(client.clone());
    // A merge leaves what it does not name: fields that are gone must be named as nothing.
    let mut body = json!({
        "allocatable": null, "capacity": null, "imageID": null, "lastPodEventTime": null,
        "nodeName": null, "providerID": null,
    });
    overlay(&mut body, &claim::api_status(status));
    let body = json!({ "metadata": version(revision), "status": body });
    let stored = api.patch_status(name, &PatchParams::default(), &Patch::Merge(body)).await?;
    Ok(stored_claim(&stored))
}

/// Asks for the deletion of a claim.
pub(super) async fn delete(client: &Client, name: &str, uid: &str) -> kube::Result<Outcome> {
    let api = Api::<NodeClaim>::all(client.clone());
    deleted(api.delete(name, &of_identity(uid)).await.map(drop))
}

/// What a deletion came to. Another object under the name means the one that was meant is gone.
pub(crate) fn deleted(result: kube::Result<()>) -> kube::Result<Outcome> {
    match result {
        Ok(()) => Ok(Outcome::Done),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Outcome::NotFound),
        Err(error) => Err(error),
    }
}

/// A deletion of that very object.
pub(crate) fn of_identity(uid: &str) -> DeleteParams {
    let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
    DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() }
}

/// A change to metadata, if the object is still at that version.
pub(super) fn metadata(patch: &MetadataPatch, revision: Revision) -> Value {
    let mut body = version(revision);
    let fields = body.as_object_mut().expect("it was made as an object");
    for (field, set, removed) in [
        ("labels", &patch.labels, &patch.labels_removed),
        ("annotations", &patch.annotations, &patch.annotations_removed),
    ] {
        // In a merge patch null removes a key.
        let removed = removed.iter().map(|key| (key.clone(), Value::Null));
        let set = set.iter().map(|(key, value)| (key.clone(), json!(value)));
        let texts: serde_json::Map<String, Value> = removed.chain(set).collect();
        if !texts.is_empty() {
            fields.insert(field.to_owned(), Value::Object(texts));
        }
    }
    if let Some(finalizers) = &patch.finalizers {
        fields.insert("finalizers".to_owned(), json!(finalizers));
    }
    body
}

/// The version a change was decided on.
pub(super) fn version(revision: Revision) -> Value {
    json!({ "resourceVersion": revision.0.to_string() })
}

/// Puts every field of a value over those of an object.
pub(super) fn overlay(object: &mut Value, fields: &impl serde::Serialize) {
    let fields = serde_json::to_value(fields).expect("statuses have text for keys");
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
        object.extend(fields);
    }
}

pub(super) fn stored_claim(stored: &NodeClaim) -> Outcome {
    match claim::read(stored) {
        Ok(claim) => Outcome::Stored(Box::new(Object::Claim(claim))),
        Err(problems) => Outcome::Failed(Failure::Invalid {
            message: problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        }),
    }
}
