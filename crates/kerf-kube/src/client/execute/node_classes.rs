//! Writing node classes.

use kerf_engine::action::MetadataPatch;
use kerf_engine::event::{Object, Outcome};
use kerf_engine::observed::{NodeClassStatus, Revision};
use kerf_model::node_spec::NodeClassRef;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::claims::metadata;
use crate::client::observe::meta::api_conditions;
use crate::client::observe::node_class;

/// Changes the metadata of a node class.
pub(super) async fn patch(
    client: &Client,
    kind: Option<ApiResource>,
    class: &NodeClassRef,
    revision: Revision,
    patch: &MetadataPatch,
) -> kube::Result<Outcome> {
    let Some(kind) = kind else { return Ok(Outcome::NotFound) };
    let api = Api::<DynamicObject>::all_with(client.clone(), &kind);
    let body = json!({ "metadata": metadata(patch, revision) });
    let stored = api.patch(&class.name, &PatchParams::default(), &Patch::Merge(body)).await?;
    Ok(stored_class(&stored, &kind))
}

/// Replaces the status of a node class.
pub(super) async fn write_status(
    client: &Client,
    kind: Option<ApiResource>,
    class: &NodeClassRef,
    revision: Revision,
    status: &NodeClassStatus,
) -> kube::Result<Outcome> {
    let Some(kind) = kind else { return Ok(Outcome::NotFound) };
    let api = Api::<DynamicObject>::all_with(client.clone(), &kind);
    let mut body = match &*status.resolved {
        Value::Object(fields) => Value::Object(fields.clone()),
        _ => json!({}),
    };
    body["conditions"] = json!(api_conditions(&status.conditions));
    // A merge would leave what it does not name, and nobody here knows the names. The version is
    // written, not tested: so the server answers with a conflict if it is another by now.
    let revision = revision.0.to_string();
    let body = json!([
        { "op": "replace", "path": "/metadata/resourceVersion", "value": revision },
        { "op": "add", "path": "/status", "value": body },
    ]);
    let patch = serde_json::from_value(body).map_err(kube::Error::SerdeError)?;
    let params = PatchParams::default();
    let stored = api.patch_status(&class.name, &params, &Patch::<()>::Json(patch)).await?;
    Ok(stored_class(&stored, &kind))
}

fn stored_class(stored: &DynamicObject, kind: &ApiResource) -> Outcome {
    Outcome::Stored(Box::new(Object::NodeClass(node_class::read(stored, kind))))
}
