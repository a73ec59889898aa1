//! Everything that can be done to the cluster and the cloud.
//!
//! An action is plain data, safe to repeat, and says why. Its outcome comes back as an
//! [`Event::Finished`](crate::event::Event::Finished).
//!
//! A new action is one variant of [`ActionKind`], one arm in [`ActionKind::info`], and one method
//! of [`Executor`]; the compiler then names the executors that have to carry it out.

mod class;
mod executor;
mod info;
mod launch;
mod patch;
mod reboot_order;
mod subject;

pub use class::ActionClass;
pub use executor::Executor;
pub use info::{ActionInfo, Backoff, Call, Verb};
pub use launch::{Launch, LaunchOffering};
pub use patch::{CordonChange, FinalizerChange, MetadataPatch, NewClaim, NodePatch};
pub use reboot_order::RebootOrder;
pub use subject::{Lane, Subject};

pub use kerf_notices::zonal_shift::{CopyEdit, PoolEdit, PoolKey};

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::node_spec::NodeClassRef;
use serde::{Deserialize, Serialize};

use crate::condition::Conditions;
use crate::event::Instance;
use crate::observed::{
    ClaimStatus, Name, NodeClass, NodeClassStatus, PodKey, PoolStatus, Revision,
};
use crate::reason::Reason;
use crate::solve::SolveRequest;
use crate::time::Time;
use crate::zonal_shift::{CopyStep, ShiftStateWrite};

/// The number of an action; never used twice by one engine.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ActionId(pub u64);

/// An action that was decided on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Action {
    /// By which its outcome names it.
    pub id: ActionId,
    /// When it was decided.
    pub at: Time,
    /// What it goes before and after where actions wait for each other.
    #[serde(default)]
    pub class: ActionClass,
    /// Why it was ordered.
    pub reason: Reason,
    /// What to do.
    pub kind: ActionKind,
}

/// What to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ActionKind {
    /// Store a new claim. One that exists under the name already is this one.
    CreateClaim(Box<NewClaim>),
    /// Change the metadata of a claim, if it is still at that revision. → `Stored`, `NotFound`
    PatchClaim {
        /// The object's name.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// What changes.
        patch: MetadataPatch,
    },
    /// Replace the status of a claim, if it is still at that revision. → `Stored`, `NotFound`
    WriteClaimStatus {
        /// The object's name.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// What to store.
        status: Box<ClaimStatus>,
    },
    /// Ask for the deletion of a claim, if it is still the same. → `Done`, `NotFound`
    DeleteClaim {
        /// The object's name.
        name: Name,
        /// The identity the object must still have.
        uid: Arc<str>,
    },
    /// Change a node, if it is still the same. Others write to it all the time, and what they write
    /// stays. → `Stored`, `NotFound`
    PatchNode {
        /// The object's name.
        name: Name,
        /// The identity the object must still have.
        uid: Arc<str>,
        /// What changes.
        patch: NodePatch,
    },
    /// Ask for the deletion of a node, if it is still the same. → `Done`, `NotFound`
    DeleteNode {
        /// The object's name.
        name: Name,
        /// The identity the object must still have.
        uid: Arc<str>,
    },
    /// Ask a pod to leave, respecting its budgets, if it is still the same. → `Done`, `NotFound`,
    /// `Failed(Refused)`
    EvictPod {
        /// The pod's name.
        pod: PodKey,
        /// The identity the object must still have.
        uid: Arc<str>,
    },
    /// Delete a pod whatever its budgets say, if it is still the same. → `Done`, `NotFound`
    DeletePod {
        /// The pod's name.
        pod: PodKey,
        /// The identity the object must still have.
        uid: Arc<str>,
        /// How long it may still take.
        grace_seconds: u64,
    },
    /// Change the annotations of a pool, if it is still at that revision. → `Stored`, `NotFound`
    PatchPool {
        /// The object's name.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// Annotations to set.
        annotations: BTreeMap<String, String>,
    },
    /// Replace the status of a pool, if it is still at that revision. → `Stored`, `NotFound`
    WritePoolStatus {
        /// The object's name.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// What to store.
        status: Box<PoolStatus>,
    },
    /// Launch an instance for a claim; at most one ever for its uid. → `Launched`, `Failed`
    Launch(Box<Launch>),
    /// Ask for the end of a claim's instance. → `Done` (on its way), `NotFound` (gone)
    Terminate {
        /// The claim.
        claim: Name,
        /// Its instance; without one, whatever was launched for the claim of that name. A claim
        /// whose launch was never heard of may have an instance all the same.
        provider_id: Option<Arc<str>>,
    },
    /// Restart a claim's instance in place; once for each operation. → `Done` (it has begun),
    /// `NotFound`, `Failed`
    Reboot(Box<RebootOrder>),
    /// Ask the API server itself which pods are on a node, past everything that was told of them.
    /// → `PodsOn`
    ConfirmDrained {
        /// The node's name.
        node: Name,
        /// Its identity: an answer about another node of that name says nothing.
        uid: Arc<str>,
    },
    /// Ask the API server itself for the node of a claim. → `Stored`, `NotFound`
    ConfirmNodeGone {
        /// The claim.
        claim: Name,
        /// The name of its node.
        node: Name,
    },
    /// Ask the API server itself for a claim that an instance may belong to: the named one, or where
    /// none is known, one that has this instance or none yet. → `Stored`, `NotFound`
    ConfirmOrphan {
        /// The claim it was launched for, if anybody remembers.
        claim: Option<Name>,
        /// The instance.
        instance: Arc<Instance>,
    },
    /// List the provider's instances that belong to this cluster. → `Instances`
    ListInstances,
    /// Set tags on an instance. → `Done`, `NotFound`
    TagInstance {
        /// The claim it was launched for.
        claim: Name,
        /// The instance.
        provider_id: Arc<str>,
        /// Tags to set; others stay.
        tags: BTreeMap<String, String>,
    },
    /// Find what a node class selects, and check what it says. → `Resolved`
    ResolveNodeClass(Arc<NodeClass>),
    /// Remove what was made for a node class that no claim uses any more. → `Done`
    ReleaseNodeClass(Arc<NodeClass>),
    /// Change the metadata of a node class, if it is still at that revision. → `Stored`, `NotFound`
    PatchNodeClass {
        /// Group, kind and name.
        class: NodeClassRef,
        /// The state the change was decided on.
        revision: Revision,
        /// What changes.
        patch: MetadataPatch,
    },
    /// Replace the status of a node class, if it is still at that revision. → `Stored`, `NotFound`
    WriteNodeClassStatus {
        /// Group, kind and name.
        class: NodeClassRef,
        /// The state the change was decided on.
        revision: Revision,
        /// What to store.
        status: Box<NodeClassStatus>,
    },
    /// Replace the conditions of a NodeOverlay, if it is still at that revision. → `Stored`,
    /// `NotFound`
    WriteOverlayStatus {
        /// The object's name.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// What to store.
        conditions: Conditions,
    },
    /// Solve a placement problem. → `Solved`
    Solve(SolveRequest),
    /// Write the ConfigMap with the state of zonal shifts, if it is still at that version.
    /// → `Stored`
    WriteShiftState(Box<ShiftStateWrite>),
    /// Change zones and annotations of a pool, of whatever kind and version, if it is still at that
    /// version. → `Stored`, `NotFound`
    EditPool(Box<PoolEdit>),
    /// Create, replace or delete a stand-in for a pool that nobody may edit. → `Stored`, `Done`,
    /// `NotFound`
    EditPoolCopy(Box<CopyStep>),
    /// Describe the account's zones, the cluster and its subnets. → `ShiftNetwork`
    DescribeShiftNetwork,
    /// Ask ARC which zonal shifts are active. → `ShiftsListed`
    ListZonalShifts {
        /// The cluster's ARN, if known.
        cluster_arn: Option<String>,
    },
}
