//! Everything that can be done to the cluster and the cloud.
//!
//! An action is plain data, safe to repeat, and says why. Its outcome comes back as an
//! [`Event::Finished`](crate::event::Event::Finished).

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::claim::NodeClaim;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;
use kerf_model::taint::{Taint, unschedulable};
use serde::{Deserialize, Serialize};

use crate::observed::{Claim, ClaimStatus, Name, PodKey, PoolStatus, Revision};
use crate::reason::Reason;
use crate::solve::SolveRequest;
use crate::time::Time;
use crate::zonal_shift::ShiftCall;

/// The number of an action; never used twice by one engine.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ActionId(pub u64);

/// Something to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Action {
    /// Its number.
    pub id: ActionId,
    /// When it was decided.
    pub at: Time,
    /// Why it was ordered.
    pub reason: Reason,
    /// What to do.
    pub kind: ActionKind,
}

/// What an action is about. Each subject is decided on by itself, and at most one action of a
/// [`Lane`] is under way for it at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Subject {
    /// A claim, from its spec to its end.
    Claim(Name),
    /// A node, from joining to its end.
    Node(Name),
    /// A pod that has to leave.
    Pod(PodKey),
    /// A pool and what is said about it.
    Pool(Name),
    /// Finding places for pods.
    Provisioning,
    /// Taking away what nobody needs.
    Disruption,
    /// Comparing claims with the cloud's instances.
    Instances,
    /// Telling of zones the cluster is shifted away from.
    ZonalShift,
    /// What the cloud announces about instances.
    Notices,
}

/// What kind of call an action needs; calls of different kinds do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Lane {
    /// Writing to the API server.
    Write,
    /// Calling the cloud.
    Cloud,
    /// Solving, in the lane of its asker.
    Solve,
}

/// What to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ActionKind {
    /// Store a new claim. One that exists under the name already is this one.
    CreateClaim(Box<NewClaim>),
    /// Change the metadata of a claim, if it is still at that revision. → `Stored`, `NotFound`
    PatchClaim {
        /// Which.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// What changes.
        patch: MetadataPatch,
    },
    /// Replace the status of a claim, if it is still at that revision. → `Stored`, `NotFound`
    WriteClaimStatus {
        /// Which.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// What to store.
        status: Box<ClaimStatus>,
    },
    /// Ask for the deletion of a claim, if it is still the same. → `Done`, `NotFound`
    DeleteClaim {
        /// Which.
        name: Name,
        /// Its identity.
        uid: Arc<str>,
    },
    /// Change a node, if it is still the same. Others write to it all the time, and what they write
    /// stays. → `Stored`, `NotFound`
    PatchNode {
        /// Which.
        name: Name,
        /// Its identity.
        uid: Arc<str>,
        /// What changes.
        patch: NodePatch,
    },
    /// Ask for the deletion of a node, if it is still the same. → `Done`, `NotFound`
    DeleteNode {
        /// Which.
        name: Name,
        /// Its identity.
        uid: Arc<str>,
    },
    /// Ask a pod to leave, respecting its budgets, if it is still the same. → `Done`, `NotFound`,
    /// `Failed(Refused)`
    EvictPod {
        /// Which.
        pod: PodKey,
        /// Its identity.
        uid: Arc<str>,
    },
    /// Delete a pod whatever its budgets say, if it is still the same. → `Done`, `NotFound`
    DeletePod {
        /// Which.
        pod: PodKey,
        /// Its identity.
        uid: Arc<str>,
        /// How long it may still take.
        grace_seconds: u64,
    },
    /// Change the annotations of a pool, if it is still at that revision. → `Stored`, `NotFound`
    PatchPool {
        /// Which.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// Annotations to set.
        annotations: BTreeMap<String, String>,
    },
    /// Replace the status of a pool, if it is still at that revision. → `Stored`, `NotFound`
    WritePoolStatus {
        /// Which.
        name: Name,
        /// The state the change was decided on.
        revision: Revision,
        /// What to store.
        status: Box<PoolStatus>,
    },
    /// Launch an instance for a claim; at most one ever for its uid. → `Launched`, `Failed`
    Launch(Box<Claim>),
    /// Ask for the end of a claim's instance. → `Done` (on its way), `NotFound` (gone)
    Terminate {
        /// The claim.
        claim: Name,
        /// Its instance; without one, whatever was launched for the claim of that name. A claim
        /// whose launch was never heard of may have an instance all the same.
        provider_id: Option<Arc<str>>,
    },
    /// List the cloud's instances that belong to this cluster. → `Instances`
    ListInstances,
    /// Solve a placement problem. → `Solved`
    Solve(SolveRequest),
    /// A call of NodePool mode of zonal shifts. → `ZonalShift`, `NotFound`
    ZonalShift(Box<ShiftCall>),
}

/// A claim to be stored. It carries Kerf's finalizer from the first moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewClaim {
    /// The spec: name, labels, annotations, spec, requests.
    pub spec: NodeClaim,
    /// The pool that owns it: name and identity.
    pub pool: (Name, Arc<str>),
}

/// Changes to the metadata of an object. What is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataPatch {
    /// Labels to set.
    pub labels: BTreeMap<String, String>,
    /// Annotations to set.
    pub annotations: BTreeMap<String, String>,
    /// All finalizers there shall be, if they change.
    pub finalizers: Option<Vec<String>>,
}

/// Changes to a node. What is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePatch {
    /// Labels to set.
    pub labels: BTreeMap<String, String>,
    /// Annotations to set.
    pub annotations: BTreeMap<String, String>,
    /// What becomes of Kerf's finalizer.
    pub finalizer: FinalizerChange,
    /// Taints to take away: all with the same key and effect.
    pub taints_removed: Vec<Taint>,
    /// Taints to add, once those are away.
    pub taints_added: Vec<Taint>,
    /// Whether to set `spec.unschedulable`, as `kubectl cordon` does.
    pub cordon: bool,
    /// The claim that shall own it: name and identity.
    pub owner: Option<(Name, Arc<str>)>,
}

/// What becomes of Kerf's finalizer on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinalizerChange {
    /// It is there or not, as before.
    #[default]
    None,
    /// It shall be there.
    Add,
    /// It shall not be there.
    Remove,
}

impl NodePatch {
    /// The finalizers of a node after the change.
    #[must_use]
    pub fn finalizers(&self, mut before: Vec<String>) -> Vec<String> {
        if self.finalizer != FinalizerChange::None {
            before.retain(|finalizer| finalizer != TERMINATION_FINALIZER);
        }
        if self.finalizer == FinalizerChange::Add {
            before.push(TERMINATION_FINALIZER.to_owned());
        }
        before
    }

    /// The taints of a node after the change.
    #[must_use]
    pub fn taints(&self, mut before: Vec<Taint>) -> Vec<Taint> {
        before.retain(|taint| !self.removes(&taint.key, taint.effect.as_str()));
        before.extend(self.taints_added.iter().cloned());
        // Kubernetes keeps this taint in step with `spec.unschedulable`.
        if self.cordon && !before.contains(&unschedulable()) {
            before.push(unschedulable());
        }
        before
    }

    /// Whether a taint goes, be it for good or in favour of a new one.
    #[must_use]
    pub fn removes(&self, key: &str, effect: &str) -> bool {
        let mut going = self.taints_removed.iter().chain(&self.taints_added);
        going.any(|taint| taint.key == key && taint.effect.as_str() == effect)
    }
}

impl ActionKind {
    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        match self {
            ActionKind::CreateClaim(claim) => Subject::Claim(Arc::from(claim.spec.name.as_str())),
            ActionKind::PatchClaim { name, .. }
            | ActionKind::WriteClaimStatus { name, .. }
            | ActionKind::DeleteClaim { name, .. }
            | ActionKind::Terminate { claim: name, .. } => Subject::Claim(name.clone()),
            ActionKind::Launch(claim) => Subject::Claim(claim.meta.name.clone()),
            ActionKind::PatchNode { name, .. } | ActionKind::DeleteNode { name, .. } => {
                Subject::Node(name.clone())
            }
            ActionKind::EvictPod { pod, .. } | ActionKind::DeletePod { pod, .. } => {
                Subject::Pod(pod.clone())
            }
            ActionKind::PatchPool { name, .. } | ActionKind::WritePoolStatus { name, .. } => {
                Subject::Pool(name.clone())
            }
            ActionKind::ListInstances => Subject::Instances,
            ActionKind::Solve(request) => request.asker.subject(),
            ActionKind::ZonalShift(call) => call.subject(),
        }
    }

    /// The kind of call it needs.
    #[must_use]
    pub fn lane(&self) -> Lane {
        match self {
            ActionKind::Launch(_) | ActionKind::Terminate { .. } | ActionKind::ListInstances => {
                Lane::Cloud
            }
            ActionKind::Solve(_) => Lane::Solve,
            ActionKind::ZonalShift(call) => call.lane(),
            _ => Lane::Write,
        }
    }
}
