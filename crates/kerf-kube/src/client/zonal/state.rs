//! The ConfigMap with the state of zonal shifts: read and written.

use k8s_openapi::api::core::v1::ConfigMap;
use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::observed::ShiftConfigMap;
use kerf_engine::zonal_shift::ShiftStateWrite;
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::client::observe::{meta::meta, namespaced};

/// Reads the ConfigMap.
#[must_use]
pub fn config_map(map: &ConfigMap) -> ShiftConfigMap {
    let none = Default::default();
    let data = map.data.as_ref().unwrap_or(&none);
    ShiftConfigMap::read(meta(&map.metadata), namespaced(&map.metadata), data)
}

/// Writes it, if it is still at the version it was decided on.
///
/// # Errors
/// The API server refused it or gave no answer.
pub async fn write_state(client: &Client, write: &ShiftStateWrite) -> kube::Result<Outcome> {
    let api = Api::<ConfigMap>::namespaced(client.clone(), &write.name.namespace);
    let data = ShiftConfigMap::data(&write.state, &write.zones, write.damaged.as_deref());
    let name = &*write.name.name;
    let written = match write.revision {
        Some(revision) => {
            let metadata = json!({"resourceVersion": revision.0.to_string()});
            let patch = Patch::Merge(json!({"metadata": metadata, "data": data}));
            api.patch(name, &PatchParams::default(), &patch).await
        }
        None => {
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            let map = ConfigMap { metadata, data: Some(data), ..ConfigMap::default() };
            api.create(&PostParams::default(), &map).await
        }
    };
    match written {
        Ok(map) => Ok(Outcome::Stored(Box::new(Object::ShiftConfigMap(config_map(&map))))),
        // Deleted since it was read: the watch event makes it be created.
        Err(kube::Error::Api(status)) if status.code == 404 => {
            Ok(Outcome::Failed(Failure::Conflict))
        }
        Err(error) => Err(error),
    }
}
