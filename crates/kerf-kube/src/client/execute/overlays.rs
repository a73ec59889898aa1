//! Writing NodeOverlays.

use kerf_api::node_overlay::NodeOverlay;
use kerf_engine::condition::Conditions;
use kerf_engine::event::{Object, Outcome};
use kerf_engine::observed::Revision;
use kerf_model::labels::LabelRules;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use super::claims::version;
use crate::client::observe::meta::api_conditions;
use crate::client::observe::overlay;

/// Replaces the conditions of an overlay.
pub(super) async fn write_status(
    client: &Client,
    rules: &LabelRules,
    name: &str,
    revision: Revision,
    conditions: &Conditions,
) -> kube::Result<Outcome> {
    let api = Api::<NodeOverlay>::all(client.clone());
    let status = json!({ "conditions": api_conditions(conditions) });
    let body = json!({ "metadata": version(revision), "status": status });
    let stored = api.patch_status(name, &PatchParams::default(), &Patch::Merge(body)).await?;
    Ok(Outcome::Stored(Box::new(Object::Overlay(overlay::read(&stored, rules)))))
}
