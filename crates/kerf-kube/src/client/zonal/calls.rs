//! Writing pools of whatever kind and version, and their stand-ins.

use kerf_engine::action::{Action, ActionKind, CopyEdit, PoolEdit, PoolKey};
use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::reason::Reason;
use kube::Client;
use kube::api::{
    Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
};

use crate::client::execute::{deleted, of_identity};
use crate::client::observe::pool_manifest;

/// The name under which changes stand in an object's managed fields.
const FIELD_MANAGER: &str = "kerf-zonal-autoshift";

/// What a failing action is known by in the failure log: a missing permission is one line there,
/// not one for each object.
pub(crate) fn failure_name(action: &Action) -> Option<&'static str> {
    match (&action.kind, &action.reason) {
        (ActionKind::WriteShiftState(_), _) => Some("writing the state"),
        (ActionKind::EditPool(_), _) => Some("changing pools"),
        (ActionKind::EditPoolCopy(_), _) => Some("changing stand-ins of pools"),
        (ActionKind::PatchNode { .. }, Reason::ZonalShiftNode(_)) => Some("changing nodes"),
        _ => None,
    }
}

/// Changes a pool, if it is still at the version it was decided on.
pub(crate) async fn edit_pool(client: &Client, edit: &PoolEdit) -> kube::Result<Outcome> {
    let kind = resource(&edit.pool.api_version, &edit.pool.kind);
    let patch = Patch::Merge(edit.merge_patch());
    let params =
        PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let stored = api(client, &kind).patch(&edit.pool.name, &params, &patch).await?;
    Ok(manifest(stored, &kind))
}

/// Creates a stand-in or replaces it, at the version it carries.
pub(crate) async fn replace_copy(client: &Client, edit: &CopyEdit) -> kube::Result<Outcome> {
    let (CopyEdit::Create { object } | CopyEdit::Replace { object, .. }) = edit else {
        return Ok(Outcome::NotFound);
    };
    let object: DynamicObject = match serde_json::from_value::<DynamicObject>(object.clone()) {
        Ok(object) => object,
        Err(error) => {
            return Ok(Outcome::Failed(Failure::Invalid { message: error.to_string() }));
        }
    };
    let types = object.types.clone().unwrap_or_default();
    let kind = resource(&types.api_version, &types.kind);
    let (api, params) = (api(client, &kind), PostParams::default());
    let stored = match edit {
        CopyEdit::Create { .. } => api.create(&params, &object).await?,
        _ => {
            api.replace(object.metadata.name.as_deref().unwrap_or_default(), &params, &object)
                .await?
        }
    };
    Ok(manifest(stored, &kind))
}

/// Deletes a stand-in, if it is still the same.
pub(crate) async fn delete_copy(
    client: &Client,
    pool: &PoolKey,
    uid: &str,
) -> kube::Result<Outcome> {
    let api = api(client, &resource(&pool.api_version, &pool.kind));
    deleted(api.delete(&pool.name, &of_identity(uid)).await.map(drop))
}

fn api(client: &Client, kind: &ApiResource) -> Api<DynamicObject> {
    Api::all_with(client.clone(), kind)
}

fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

fn manifest(stored: DynamicObject, kind: &ApiResource) -> Outcome {
    let mut stored = stored;
    stored.metadata.managed_fields = None;
    Outcome::Stored(Box::new(Object::PoolManifest(pool_manifest::read(stored, kind))))
}
