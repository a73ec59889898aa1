//! Which pods Kerf finds a place for.

use k8s_openapi::api::core::v1::{Pod, PodSpec};
use thiserror::Error;

/// Why a pod is not Kerf's to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotProvisionable {
    /// It has a node.
    #[error("it runs on a node already")]
    Bound,
    /// It has run to its end.
    #[error("it has ended")]
    Ended,
    /// It waits for other pods to leave a node.
    #[error("it is about to take the place of other pods")]
    Nominated,
    /// A DaemonSet gives it a node of its own choice.
    #[error("its DaemonSet chooses its node")]
    OfDaemonSet,
    /// A node's own agent runs it.
    #[error("it belongs to a node")]
    OfNode,
    /// Its scheduling gates keep the scheduler from looking at it.
    #[error("its scheduling gates hold it back")]
    Gated,
    /// The cluster's scheduler has not said that it cannot place it.
    #[error("the scheduler has not called it unschedulable")]
    NotJudged,
}

/// Whether the pod waits for a node that Kerf could make. The scheduler's verdict is asked last:
/// who reads manifests, which carry none, may pass over [`NotProvisionable::NotJudged`].
///
/// # Errors
/// The first reason why not.
pub fn provisionable(pod: &Pod) -> Result<(), NotProvisionable> {
    let status = pod.status.as_ref();
    let nominated = status.and_then(|status| status.nominated_node_name.as_deref());
    if is_bound(pod) {
        Err(NotProvisionable::Bound)
    } else if has_ended(pod) {
        Err(NotProvisionable::Ended)
    } else if nominated.is_some_and(|node| !node.is_empty()) {
        Err(NotProvisionable::Nominated)
    } else if is_of_daemon_set(pod) {
        Err(NotProvisionable::OfDaemonSet)
    } else if is_owned_by(pod, "v1", "Node") {
        Err(NotProvisionable::OfNode)
    } else if is_unschedulable(pod) {
        Ok(())
    } else if pod.spec.as_ref().is_some_and(is_gated) {
        Err(NotProvisionable::Gated)
    } else {
        Err(NotProvisionable::NotJudged)
    }
}

/// Whether the pod has a node.
#[must_use]
pub fn is_bound(pod: &Pod) -> bool {
    node_of(pod).is_some()
}

/// The node the pod is bound to.
#[must_use]
pub fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|node| !node.is_empty())
}

/// Whether the pod has run to its end and takes nothing any more.
#[must_use]
pub fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// Whether a DaemonSet made the pod.
#[must_use]
pub fn is_of_daemon_set(pod: &Pod) -> bool {
    is_owned_by(pod, "apps/v1", "DaemonSet")
}

/// Whether the scheduler does not look at such pods yet.
pub(crate) fn is_gated(spec: &PodSpec) -> bool {
    spec.scheduling_gates.as_ref().is_some_and(|gates| !gates.is_empty())
}

fn is_owned_by(pod: &Pod, api_version: &str, kind: &str) -> bool {
    let owners = pod.metadata.owner_references.iter().flatten();
    owners.into_iter().any(|owner| owner.api_version == api_version && owner.kind == kind)
}

fn is_unschedulable(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|condition| {
        condition.type_ == "PodScheduled" && condition.reason.as_deref() == Some("Unschedulable")
    })
}
