//! Nodes that a provisioner owns are handed over to it: it launches the replacement first, and
//! nobody else drains the node meanwhile.

use kerf_engine::notice::FoundNode;
use kerf_model::labels::well_known::NODE_POOL;
use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Preconditions,
};
use serde_json::Value;

/// Hands nodes over to their provisioner. Copies share the client.
#[derive(Clone)]
pub(crate) struct Provisioner {
    claims: Api<DynamicObject>,
}

impl Provisioner {
    pub(crate) fn new(client: Client) -> Self {
        let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
        let resource = ApiResource::from_gvk_with_plural(&kind, "nodeclaims");
        Self { claims: Api::all_with(client, &resource) }
    }

    /// Deletes the claim of a node, if it has one. Whether it had: the provisioner does the rest.
    ///
    /// # Errors
    /// The API server did not do it.
    pub(crate) async fn take_over(&self, node: &FoundNode) -> kube::Result<bool> {
        let Some(pool) = node.labels.get(NODE_POOL) else { return Ok(false) };
        let of_pool = ListParams::default().labels(&format!("{NODE_POOL}={pool}"));
        let is_of_node = |claim: &DynamicObject| {
            let name = claim.data.pointer("/status/nodeName").and_then(Value::as_str);
            name == Some(&*node.name)
        };
        let claims = self.claims.list(&of_pool).await?;
        let Some(claim) = claims.items.into_iter().find(is_of_node) else { return Ok(false) };
        let preconditions = Preconditions { uid: claim.metadata.uid, resource_version: None };
        let parameters = DeleteParams::default().preconditions(preconditions);
        match self.claims.delete(&claim.metadata.name.unwrap_or_default(), &parameters).await {
            Ok(_) => Ok(true),
            // Somebody else was faster.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
