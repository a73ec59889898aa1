//! Who carries actions out: Kubernetes and a provider, the simulator, a test.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;

use super::{ActionKind, Launch, MetadataPatch, NewClaim, NodePatch, PoolEdit, RebootOrder};
use crate::condition::Conditions;
use crate::event::Instance;
use crate::observed::{
    ClaimStatus, Name, NodeClass, NodeClassStatus, PodKey, PoolStatus, Revision,
};
use crate::solve::SolveRequest;
use crate::zonal_shift::{CopyStep, ShiftStateWrite};

/// Carries actions out, one method for each. What a method must do and may answer is said at the
/// variant of [`ActionKind`] it is named after.
pub trait Executor<'a> {
    /// An [`Outcome`](crate::event::Outcome), or what becomes one.
    type Answer;

    /// [`ActionKind::CreateClaim`]
    fn create_claim(&mut self, claim: &'a NewClaim) -> Self::Answer;

    /// [`ActionKind::PatchClaim`]
    fn patch_claim(
        &mut self,
        name: &'a Name,
        revision: Revision,
        patch: &'a MetadataPatch,
    ) -> Self::Answer;

    /// [`ActionKind::WriteClaimStatus`]
    fn write_claim_status(
        &mut self,
        name: &'a Name,
        revision: Revision,
        status: &'a ClaimStatus,
    ) -> Self::Answer;

    /// [`ActionKind::DeleteClaim`]
    fn delete_claim(&mut self, name: &'a Name, uid: &'a str) -> Self::Answer;

    /// [`ActionKind::PatchNode`]
    fn patch_node(&mut self, name: &'a Name, uid: &'a str, patch: &'a NodePatch) -> Self::Answer;

    /// [`ActionKind::DeleteNode`]
    fn delete_node(&mut self, name: &'a Name, uid: &'a str) -> Self::Answer;

    /// [`ActionKind::EvictPod`]
    fn evict_pod(&mut self, pod: &'a PodKey, uid: &'a str) -> Self::Answer;

    /// [`ActionKind::DeletePod`]
    fn delete_pod(&mut self, pod: &'a PodKey, uid: &'a str, grace_seconds: u64) -> Self::Answer;

    /// [`ActionKind::PatchPool`]
    fn patch_pool(
        &mut self,
        name: &'a Name,
        revision: Revision,
        annotations: &'a BTreeMap<String, String>,
    ) -> Self::Answer;

    /// [`ActionKind::WritePoolStatus`]
    fn write_pool_status(
        &mut self,
        name: &'a Name,
        revision: Revision,
        status: &'a PoolStatus,
    ) -> Self::Answer;

    /// [`ActionKind::Launch`]
    fn launch(&mut self, launch: &'a Launch) -> Self::Answer;

    /// [`ActionKind::Terminate`]
    fn terminate(&mut self, claim: &'a Name, provider_id: Option<&'a Arc<str>>) -> Self::Answer;

    /// [`ActionKind::Reboot`]
    fn reboot(&mut self, order: &'a RebootOrder) -> Self::Answer;

    /// [`ActionKind::ConfirmDrained`]
    fn confirm_drained(&mut self, node: &'a Name) -> Self::Answer;

    /// [`ActionKind::ConfirmNodeGone`]
    fn confirm_node_gone(&mut self, node: &'a Name) -> Self::Answer;

    /// [`ActionKind::ConfirmOrphan`]
    fn confirm_orphan(&mut self, claim: Option<&'a Name>, instance: &'a Instance) -> Self::Answer;

    /// [`ActionKind::ListInstances`]
    fn list_instances(&mut self) -> Self::Answer;

    /// [`ActionKind::TagInstance`]
    fn tag_instance(
        &mut self,
        claim: &'a Name,
        provider_id: &'a str,
        tags: &'a BTreeMap<String, String>,
    ) -> Self::Answer;

    /// [`ActionKind::ResolveNodeClass`]
    fn resolve_node_class(&mut self, class: &'a NodeClass) -> Self::Answer;

    /// [`ActionKind::ReleaseNodeClass`]
    fn release_node_class(&mut self, class: &'a NodeClass) -> Self::Answer;

    /// [`ActionKind::PatchNodeClass`]
    fn patch_node_class(
        &mut self,
        class: &'a NodeClassRef,
        revision: Revision,
        patch: &'a MetadataPatch,
    ) -> Self::Answer;

    /// [`ActionKind::WriteNodeClassStatus`]
    fn write_node_class_status(
        &mut self,
        class: &'a NodeClassRef,
        revision: Revision,
        status: &'a NodeClassStatus,
    ) -> Self::Answer;

    /// [`ActionKind::WriteOverlayStatus`]
    fn write_overlay_status(
        &mut self,
        name: &'a Name,
        revision: Revision,
        conditions: &'a Conditions,
    ) -> Self::Answer;

    /// [`ActionKind::WriteShiftState`]
    fn write_shift_state(&mut self, write: &'a ShiftStateWrite) -> Self::Answer;

    /// [`ActionKind::EditPool`]
    fn edit_pool(&mut self, edit: &'a PoolEdit) -> Self::Answer;

    /// [`ActionKind::EditPoolCopy`]
    fn edit_pool_copy(&mut self, step: &'a CopyStep) -> Self::Answer;

    /// [`ActionKind::DescribeShiftNetwork`]
    fn describe_shift_network(&mut self) -> Self::Answer;

    /// [`ActionKind::ListZonalShifts`]
    fn list_zonal_shifts(&mut self, cluster_arn: Option<&'a str>) -> Self::Answer;

    /// [`ActionKind::Solve`]
    fn solve(&mut self, request: &'a SolveRequest) -> Self::Answer;
}

impl ActionKind {
    /// Has the action carried out.
    pub fn execute<'a, E: Executor<'a>>(&'a self, executor: &mut E) -> E::Answer {
        match self {
            Self::CreateClaim(claim) => executor.create_claim(claim),
            Self::PatchClaim { name, revision, patch } => {
                executor.patch_claim(name, *revision, patch)
            }
            Self::WriteClaimStatus { name, revision, status } => {
                executor.write_claim_status(name, *revision, status)
            }
            Self::DeleteClaim { name, uid } => executor.delete_claim(name, uid),
            Self::PatchNode { name, uid, patch } => executor.patch_node(name, uid, patch),
            Self::DeleteNode { name, uid } => executor.delete_node(name, uid),
            Self::EvictPod { pod, uid } => executor.evict_pod(pod, uid),
            Self::DeletePod { pod, uid, grace_seconds } => {
                executor.delete_pod(pod, uid, *grace_seconds)
            }
            Self::PatchPool { name, revision, annotations } => {
                executor.patch_pool(name, *revision, annotations)
            }
            Self::WritePoolStatus { name, revision, status } => {
                executor.write_pool_status(name, *revision, status)
            }
            Self::Launch(launch) => executor.launch(launch),
            Self::Terminate { claim, provider_id } => {
                executor.terminate(claim, provider_id.as_ref())
            }
            Self::Reboot(order) => executor.reboot(order),
            Self::ConfirmDrained { node, .. } => executor.confirm_drained(node),
            Self::ConfirmNodeGone { node, .. } => executor.confirm_node_gone(node),
            Self::ConfirmOrphan { claim, instance } => {
                executor.confirm_orphan(claim.as_ref(), instance)
            }
            Self::ListInstances => executor.list_instances(),
            Self::TagInstance { claim, provider_id, tags } => {
                executor.tag_instance(claim, provider_id, tags)
            }
            Self::ResolveNodeClass(class) => executor.resolve_node_class(class),
            Self::ReleaseNodeClass(class) => executor.release_node_class(class),
            Self::PatchNodeClass { class, revision, patch } => {
                executor.patch_node_class(class, *revision, patch)
            }
            Self::WriteNodeClassStatus { class, revision, status } => {
                executor.write_node_class_status(class, *revision, status)
            }
            Self::WriteOverlayStatus { name, revision, conditions } => {
                executor.write_overlay_status(name, *revision, conditions)
            }
            Self::WriteShiftState(write) => executor.write_shift_state(write),
            Self::EditPool(edit) => executor.edit_pool(edit),
            Self::EditPoolCopy(step) => executor.edit_pool_copy(step),
            Self::DescribeShiftNetwork => executor.describe_shift_network(),
            Self::ListZonalShifts { cluster_arn } => {
                executor.list_zonal_shifts(cluster_arn.as_deref())
            }
            Self::Solve(request) => executor.solve(request),
        }
    }
}
