//! All objects of a kind, as `kubectl get -A -o yaml` prints them.

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use serde_json::{Value, json};

/// Objects asked for at once.
const PAGE: u32 = 500;

/// A kind of objects: group, version, kind, plural.
pub(crate) type Kind = (&'static str, &'static str, &'static str, &'static str);

/// Lists a kind, page by page.
///
/// # Errors
/// The API server did not answer, or does not serve the kind.
pub(crate) async fn list(
    client: &Client,
    (group, version, kind, plural): Kind,
) -> kube::Result<Vec<Value>> {
    let gvk = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let mut values = Vec::new();
    let mut params = ListParams::default().limit(PAGE);
    loop {
        let page = api.list(&params).await?;
        for item in page.items {
            let mut value = serde_json::to_value(item).map_err(kube::Error::SerdeError)?;
            // An API server leaves them out of the items of a list.
            value["apiVersion"] = json!(resource.api_version);
            value["kind"] = json!(kind);
            values.push(value);
        }
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(values),
        }
    }
}
