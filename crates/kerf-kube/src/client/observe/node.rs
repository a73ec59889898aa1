//! Nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1::{CSINode, CSINodeDriver};
use kerf_api::FieldError;
use kerf_engine::condition::{Condition, Conditions, Status};
use kerf_engine::observed::{Node, NodeProfile};
use kerf_engine::time::Time;
use kerf_model::taint::{UNSCHEDULABLE_KEY, unschedulable};

use super::meta::{meta, own_annotations, owner_uid, time};
use crate::reader::{CoreFields as _, Reader};

/// Reads a node with what its volume drivers reported.
pub(crate) fn read(
    node: &core::Node,
    volume_limits: BTreeMap<String, u32>,
) -> Result<Node, Vec<FieldError>> {
    let none = core::NodeStatus::default();
    let status = node.status.as_ref().unwrap_or(&none);
    let spec = node.spec.as_ref();
    let mut reader = Reader::default();
    let taints = reader.taints("spec.taints", spec.and_then(|spec| spec.taints.as_ref()));
    let capacity = reader.amounts("status.capacity", status.capacity.as_ref());
    let allocatable = reader.amounts("status.allocatable", status.allocatable.as_ref());
    let value = taints.zip(capacity).zip(allocatable);
    let ((mut taints, capacity), allocatable) = reader.finish(value)?;
    let closed = spec.is_some_and(|spec| spec.unschedulable == Some(true));
    if closed && !taints.iter().any(|taint| taint.key == UNSCHEDULABLE_KEY) {
        taints.push(unschedulable());
    }
    let provider_id = spec.and_then(|spec| spec.provider_id.as_deref());
    let conditions = status.conditions.iter().flatten();
    Ok(Node {
        meta: meta(&node.metadata),
        labels: node.metadata.labels.clone().unwrap_or_default(),
        annotations: own_annotations(&node.metadata),
        finalizers: node.metadata.finalizers.clone().unwrap_or_default(),
        owner_claim: owner_uid(&node.metadata, "NodeClaim"),
        provider_id: provider_id.filter(|id| !id.is_empty()).map(Arc::from),
        taints,
        capacity,
        allocatable,
        is_ready: conditions.into_iter().any(|it| it.type_ == "Ready" && it.status == "True"),
        volume_limits,
        profile: profile(status),
    })
}

/// Its boot id, and its conditions without the messages and heartbeats that nobody is shown.
fn profile(status: &core::NodeStatus) -> NodeProfile {
    let conditions = status.conditions.iter().flatten().map(|condition| Condition {
        kind: condition.type_.clone(),
        status: match condition.status.as_str() {
            "True" => Status::True,
            "False" => Status::False,
            _ => Status::Unknown,
        },
        reason: condition.reason.clone().unwrap_or_default(),
        message: String::new(),
        changed_at: condition.last_transition_time.as_ref().map_or(Time::default(), time),
        observed_generation: 0,
    });
    let boot_id = status.node_info.as_ref().map(|info| info.boot_id.clone());
    NodeProfile {
        conditions: Conditions(conditions.collect()),
        boot_id: boot_id.unwrap_or_default(),
    }
}

/// How many volumes the drivers of a node can attach there, by driver.
pub(super) fn limits(csi: &CSINode) -> BTreeMap<String, u32> {
    let limit = |driver: &CSINodeDriver| {
        let count = driver.allocatable.as_ref()?.count?;
        Some((driver.name.clone(), u32::try_from(count).ok()?))
    };
    csi.spec.drivers.iter().filter_map(limit).collect()
}
