//! Whether instances could be launched with a node class.

mod rules;

use kerf_api::ec2_node_class::{AmiFamily, EC2NodeClassSpec};
use kerf_engine::condition::Status;

use super::part::{PartError, PartResult};
use crate::CallError;
use crate::provider::context::Context;

/// The reason of a class of AL2023 in a cluster whose Services have addresses unknown.
const CIDR_FAILED: &str = "ClusterCIDRResolutionFailed";

/// Checks a class whose parts were looked for: what they are is in `status_of`.
pub(super) async fn check(
    context: &Context,
    spec: &EC2NodeClassSpec,
    status_of: impl Fn(&str) -> Status,
) -> PartResult<()> {
    if spec.resolved_ami_family() == Some(AmiFamily::AL2023) {
        context.cluster_with_service_cidr().await.map_err(cidr_failed)?;
    }
    rules::kubelet(spec, context.settings.allows_expressions)?;
    rules::dependencies(status_of)?;
    rules::tags(spec.tags.as_ref(), is_restricted)
}

fn cidr_failed(error: CallError) -> PartError {
    match error.is_transient() {
        true => error.into(),
        false => PartError::not_ready(CIDR_FAILED, error.to_string()),
    }
}

fn is_restricted(_: &str) -> bool {
    false
}
