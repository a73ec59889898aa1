//! Writing pools.

use std::collections::BTreeMap;

use kerf_api::node_pool::NodePool;
use kerf_engine::event::{Object, Outcome};
use kerf_engine::observed::{PoolStatus, Revision};
use kerf_model::labels::LabelRules;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use super::claims::{overlay, version};
use crate::client::observe::pool;

/// Sets annotations of a pool.
pub(super) async fn patch(
    client: &Client,
    rules: &LabelRules,
    name: &str,
    revision: Revision,
    annotations: &BTreeMap<String, String>,
) -> kube::Result<Outcome> {
    let api = Api::<NodePool>::all(client.clone());
    let mut metadata = version(revision);
    metadata["annotations"] = json!(annotations);
    let body = json!({ "metadata": metadata });
    let stored = api.patch(name, &PatchParams::default(), &Patch::Merge(body)).await?;
    Ok(stored_pool(&stored, rules))
}

/// Replaces the status of a pool.
pub(super) async fn write_status(
    client: &Client,
    rules: &LabelRules,
    name: &str,
    revision: Revision,
    status: &PoolStatus,
) -> kube::Result<Outcome> {
    let api = Api::<NodePool>::all(client.clone());
    let mut body = json!({ "resources": null, "nodeClassObservedGeneration": null });
    overlay(&mut body, &pool::api_status(status));
    let body = json!({ "metadata": version(revision), "status": body });
    let stored = api.patch_status(name, &PatchParams::default(), &Patch::Merge(body)).await?;
    Ok(stored_pool(&stored, rules))
}

fn stored_pool(stored: &NodePool, rules: &LabelRules) -> Outcome {
    let (read, _) = pool::read(stored, rules);
    Outcome::Stored(Box::new(Object::Pool(read)))
}
