//! The spec of NodeClaims. Their status is read by those who follow them.

use kerf_model::claim as model;

use super::node_spec::{self, SharedFields};
use crate::field_error::FieldError;
use crate::node_claim::{ClaimResources, NodeClaim, NodeClaimSpec};
use crate::reader::Reader;

/// Reads a claim.
///
/// # Errors
/// Every field that cannot be understood.
pub fn node_claim_to_model(claim: &NodeClaim) -> Result<model::NodeClaim, Vec<FieldError>> {
    let NodeClaimSpec {
        expire_after,
        node_class_ref,
        requirements,
        resources,
        startup_taints,
        taints,
        termination_grace_period,
    } = &claim.spec;
    let mut reader = Reader::default();
    let requests = resources.as_ref().and_then(|resources| resources.requests.as_ref());
    let requests = reader.resources("spec.resources.requests", requests);
    let fields = SharedFields {
        requirements,
        taints: taints.as_ref(),
        startup_taints: startup_taints.as_ref(),
        node_class_ref,
        termination_grace_period: termination_grace_period.as_deref(),
        expire_after: expire_after.as_deref(),
    };
    let spec = node_spec::read(&mut reader, "spec", &fields);
    let metadata = claim.metadata.clone();
    let value = spec.zip(requests).map(|(spec, requests)| model::NodeClaim {
        name: metadata.name.unwrap_or_default(),
        labels: metadata.labels.unwrap_or_default(),
        annotations: metadata.annotations.unwrap_or_default(),
        node: spec,
        requests,
    });
    reader.finish(value)
}

/// Writes a claim.
#[must_use]
pub fn node_claim_from_model(claim: &model::NodeClaim) -> NodeClaim {
    let model::NodeClaim { name, labels, annotations, node: spec, requests } = claim;
    let requests = node_spec::resources(requests);
    let mut written = NodeClaim::new(
        name,
        NodeClaimSpec {
            expire_after: Some(spec.expire_after.as_str().to_owned()),
            node_class_ref: node_spec::node_class_ref(&spec.node_class),
            requirements: node_spec::requirements(&spec.requirements),
            resources: requests.map(|requests| ClaimResources { requests: Some(requests) }),
            startup_taints: node_spec::taints(&spec.startup_taints),
            taints: node_spec::taints(&spec.taints),
            termination_grace_period: spec.termination_grace.map(|grace| grace.to_string()),
        },
    );
    written.metadata.labels = (!labels.is_empty()).then(|| labels.clone());
    written.metadata.annotations = (!annotations.is_empty()).then(|| annotations.clone());
    written
}
