//! Claims.

use std::sync::Arc;

use kerf_api::FieldError;
use kerf_api::convert::node_claim_to_model;
use kerf_api::node_claim::{NodeClaim, NodeClaimStatus};
use kerf_engine::observed::{Claim, ClaimStatus};

use super::meta::{
    api_conditions, api_resources, api_time, conditions, meta, owner_uid, resources, time,
};

/// Reads a claim.
pub(crate) fn read(claim: &NodeClaim) -> Result<Claim, Vec<FieldError>> {
    let spec = node_claim_to_model(claim)?;
    Ok(Claim {
        meta: meta(&claim.metadata),
        spec,
        finalizers: claim.metadata.finalizers.clone().unwrap_or_default(),
        owner_pool: owner_uid(&claim.metadata, "NodePool")
            .or_else(|| owner_uid(&claim.metadata, "Provisioner")),
        status: claim.status.as_ref().map(status).unwrap_or_default(),
    })
}

fn status(status: &NodeClaimStatus) -> ClaimStatus {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    ClaimStatus {
        node_name: given(&status.node_name).map(Arc::from),
        provider_id: given(&status.provider_id).map(Arc::from),
        image_id: given(&status.image_id),
        capacity: resources(status.capacity.as_ref()),
        allocatable: resources(status.allocatable.as_ref()),
        conditions: conditions(status.conditions.as_ref()),
        last_pod_event_at: status.last_pod_event_time.as_ref().map(time),
    }
}

/// A status as it is stored.
pub(crate) fn api_status(status: &ClaimStatus) -> NodeClaimStatus {
    NodeClaimStatus {
        allocatable: api_resources(&status.allocatable),
        capacity: api_resources(&status.capacity),
        conditions: Some(api_conditions(&status.conditions)),
        image_id: status.image_id.clone(),
        last_pod_event_time: status.last_pod_event_at.map(api_time),
        node_name: status.node_name.as_deref().map(str::to_owned),
        provider_id: status.provider_id.as_deref().map(str::to_owned),
    }
}
