//! Reading straight from the API server what no watch told of. Without a version in the request the
//! answer is the newest there is, not what some cache holds.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod};
use kerf_api::node_claim::NodeClaim;
use kerf_engine::event::{Instance, Outcome};
use kerf_engine::observed::PodKey;
use kube::Client;
use kube::api::{Api, ListParams};

use super::claims::stored_claim;
use super::nodes::stored_node;
use crate::client::observe::meta::name_of;
use crate::pod::namespace_of;

/// Claims in one page of a list.
const PAGE_SIZE: u32 = 500;

/// The pods on a node that have not ended.
pub(super) async fn pods_on(client: &Client, node: &str) -> kube::Result<Outcome> {
    let api = Api::<Pod>::all(client.clone());
    // The server knows by itself which pods have ended; there may be many.
    let running = "status.phase!=Succeeded,status.phase!=Failed";
    let params = ListParams::default().fields(&format!("spec.nodeName={node},{running}"));
    let pods = api.list(&params).await?.items.into_iter();
    let identity = |pod: Pod| {
        let namespace = Arc::from(namespace_of(&pod.metadata));
        let key = PodKey { namespace, name: name_of(&pod.metadata) };
        (key, Arc::from(pod.metadata.uid.unwrap_or_default()))
    };
    Ok(Outcome::PodsOn(pods.map(identity).collect()))
}

/// A node as it is stored.
pub(super) async fn node(client: &Client, name: &str) -> kube::Result<Outcome> {
    let found = Api::<Node>::all(client.clone()).get_opt(name).await?;
    Ok(found.as_ref().map_or(Outcome::NotFound, stored_node))
}

/// A claim that an instance may belong to.
pub(super) async fn owner(
    client: &Client,
    claim: Option<&str>,
    instance: &Instance,
) -> kube::Result<Outcome> {
    let api = Api::<NodeClaim>::all(client.clone());
    if let Some(name) = claim {
        let found = api.get_opt(name).await?;
        return Ok(found.as_ref().map_or(Outcome::NotFound, stored_claim));
    }
    let may_own = |claim: &NodeClaim| {
        let id = claim.status.as_ref().and_then(|status| status.provider_id.as_deref());
        id.is_none_or(|id| id.is_empty() || *id == *instance.provider_id)
    };
    let mut page = ListParams::default().limit(PAGE_SIZE);
    loop {
        let list = api.list(&page).await?;
        if let Some(claim) = list.items.iter().find(|claim| may_own(claim)) {
            return Ok(stored_claim(claim));
        }
        page.continue_token = list.metadata.continue_.filter(|token| !token.is_empty());
        if page.continue_token.is_none() {
            return Ok(Outcome::NotFound);
        }
    }
}
