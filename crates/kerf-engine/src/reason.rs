//! Why something is done, and why something is not: typed, so that logs, Events, metrics and
//! explanations read the same value. [`text`](self) for people is made in one place, by `Display`.

mod reboot_fault;
mod repair_cause;
mod text;

pub use reboot_fault::RebootFault;
pub use repair_cause::RepairCause;

use std::sync::Arc;

use kerf_model::budget::DisruptionReason;
use kerf_model::quantity::Quantity;
use kerf_notices::zonal_shift::NodeAction;
use serde::{Deserialize, Serialize};

use crate::command::CommandId;
use crate::condition::Status;
use crate::notice::NoticeKind;
use crate::observed::{Name, PodKey};
use crate::time::Time;

/// Why an action was ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Pods wait for a node.
    PodsPending {
        /// How many are placed together.
        count: usize,
    },
    /// A placement asks for one more node of a pool.
    NodeNeeded {
        /// The pool.
        pool: Name,
    },
    /// Some nodes should go, and their pods need places.
    PlacesUnknown {
        /// Why the nodes should go.
        reason: DisruptionReason,
        /// How many they are.
        nodes: usize,
    },
    /// A claim has no instance yet.
    NotLaunched,
    /// A claim lacks labels, annotations or finalizers it should carry.
    ClaimMetadataOutdated,
    /// More is known of a claim than its status says.
    ClaimStatusOutdated {
        /// Conditions whose status changes, in the order they are stored.
        conditions: Vec<ConditionChange>,
        /// Whether a pod came to or left the node since the last one was stored.
        pod_event: bool,
    },
    /// A node has joined and gets what its claim asks for.
    NodeJoined,
    /// A node that has joined is ready for pods.
    NodeInitialized,
    /// A node lacks the label of its node class.
    NodeClassLabelMissing,
    /// A node speaks of a reservation that its instance does not run in any more.
    ReservationLeft,
    /// A claim is given up although nobody asked for its deletion.
    Deletion(DeletionCause),
    /// A claim is disrupted voluntarily.
    Disruption {
        /// The reason its command was made for.
        reason: DisruptionReason,
        /// The command it is part of.
        command: CommandId,
        /// What is wrong with its node, where that is why it goes now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Box<RepairCause>>,
    },
    /// A claim comes in the place of others.
    Replacement {
        /// Why those go.
        reason: DisruptionReason,
        /// The command it is part of.
        command: CommandId,
    },
    /// A replacement is up and stands by itself: its command deletes candidates next, or it is in
    /// use although its command is over.
    ReplacementKept,
    /// The command a replacement was for is over, and nothing uses it.
    ReplacementUnused,
    /// A voluntary disruption is off; what it left on the node or claim is removed.
    DisruptionCancelled(Cancelled),
    /// The object's claim is being deleted.
    ClaimDeleting,
    /// The object's claim is gone.
    ClaimGone,
    /// The object's node is being deleted.
    NodeDeleting,
    /// The named node is being drained.
    Draining {
        /// The node.
        node: Name,
    },
    /// A node's deadline comes before the pod would end by itself.
    DrainDeadline {
        /// When the node must be gone.
        deadline: Time,
        /// How long the pod is given.
        grace_seconds: u64,
        /// How long it asks for; `None` if it sets no limit.
        asked_seconds: Option<u64>,
    },
    /// A node is rebooted in place.
    Rebooting,
    /// A node is drained next: no pod may come any more.
    DrainStarting,
    /// All pods that have to leave have left.
    Drained,
    /// The cloud announced something about a node's instance.
    Announced(NoticeKind),
    /// A node's pods, volumes and instance are gone.
    NodeDrained,
    /// The cloud no longer has the instance of a node.
    InstanceGone,
    /// Nothing needs an instance any more.
    InstanceUnused,
    /// No claim has this instance.
    InstanceOrphaned,
    /// Something would be ended because another thing is not there, and the API server is asked first.
    AbsenceUnconfirmed,
    /// Claims and the cloud's instances are compared from time to time.
    InstanceComparison,
    /// A pool's status is behind.
    PoolStatusOutdated,
    /// A pool's template has another hash than the one stored with it.
    PoolHashOutdated,
    /// A claim's hash was made by another version of the hash function.
    ClaimHashOutdated,
    /// A node class lacks the finalizer, or carries another hash than the one of its spec.
    NodeClassMetadataOutdated,
    /// What a node class selects is not known, or not lately.
    NodeClassUnresolved,
    /// More is known of a node class than its status says.
    NodeClassStatusOutdated,
    /// A node class is being deleted, and no claim uses it.
    NodeClassUnused,
    /// A NodeOverlay's status is behind.
    OverlayStatusOutdated,
    /// The node of an instance is known and the instance does not carry its name.
    InstanceUntagged,
    /// Zones, subnets and ARC's shifts are read from time to time.
    ShiftSourcesOutdated,
    /// The state of zonal shifts is another than the one stored.
    ShiftStateChanged,
    /// A zone is to be avoided, or no longer.
    ZonalShift,
    /// The same, for a node there.
    ZonalShiftNode(NodeAction),
}

/// A condition that gets another status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionChange {
    /// The condition's type.
    pub kind: Arc<str>,
    /// The status it gets.
    pub status: Status,
}

/// Why a claim is given up although nobody asked for its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DeletionCause {
    /// The cloud announced the end of its instance.
    Interrupted(NoticeKind),
    /// The cloud has no such instance now.
    InsufficientCapacity,
    /// Its node class cannot be used.
    NodeClassNotReady,
    /// Nothing was launched in time.
    LaunchTimeout,
    /// Its node did not join in time.
    RegistrationTimeout,
    /// It reached its age limit.
    Expired,
    /// The cloud no longer has its instance.
    GarbageCollected,
    /// The reservation its instance runs in is about to end.
    ReservationEnding,
    /// Its pool has more nodes than its `replicas`.
    Overprovisioned,
    /// The reboot of its node failed.
    RebootFailed(RebootFault),
}

/// Why a voluntary disruption is off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cancelled {
    /// Something does not let the node go.
    Blocked(Blocked),
    /// The method that chose the node would no longer do so.
    NotCandidate,
    /// A replacement was not created, failed or was deleted.
    ReplacementGone {
        /// The claim.
        claim: Name,
    },
    /// The replacements would take a pool over its limits.
    LimitReached(NotPlaced),
    /// Replacements did not come up in time.
    TimedOut,
    /// No command under way includes the node, as after a crash.
    Abandoned,
}

/// Why a node may not be disrupted now: the nearest cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Blocked {
    /// The node is being rebooted.
    Rebooting,
    /// The node or its claim is being deleted already.
    Deleting,
    /// Pods that wait are nominated to it.
    Nominated,
    /// The node carries the do-not-disrupt annotation.
    NodeDoNotDisrupt,
    /// The node carries the do-not-repair annotation.
    NodeDoNotRepair,
    /// So many nodes of the pool are unhealthy that replacing some would not help.
    TooManyUnhealthy {
        /// The pool.
        pool: Name,
        /// How many are.
        unhealthy: usize,
        /// How many nodes it has.
        nodes: usize,
    },
    /// The cluster is shifted away from its zone.
    ZoneShifted {
        /// The zone's name.
        zone: Name,
        /// The zone's id.
        id: Name,
    },
    /// A pod carries the do-not-disrupt annotation.
    PodDoNotDisrupt {
        /// The pod.
        pod: PodKey,
    },
    /// A PodDisruptionBudget allows no eviction of a pod now.
    PodDisruptionBudget {
        /// The budget's namespace.
        namespace: Name,
        /// The budget's name.
        name: Name,
        /// The pod.
        pod: PodKey,
    },
    /// Several PodDisruptionBudgets cover a pod, which the eviction API refuses.
    SeveralPodDisruptionBudgets {
        /// The pod.
        pod: PodKey,
    },
    /// A pod on it would have no place to go.
    NoPlace {
        /// The pod.
        pod: PodKey,
        /// Why not.
        cause: Box<NotPlaced>,
    },
    /// Its pool has as many nodes as its limits allow, and none may go before its replacement.
    StaticPoolAtLimit {
        /// The pool.
        pool: Name,
    },
    /// The reservations its pool launches from are full.
    ReservationsFull {
        /// The pool.
        pool: Name,
    },
    /// Its pool is not ready, so nothing could come in its place.
    PoolNotReady {
        /// The pool.
        pool: Name,
    },
    /// The budgets of its pool allow no (further) disruption for this reason.
    Budget {
        /// Why nodes would go.
        reason: DisruptionReason,
    },
}

/// Why a pod was not placed: the nearest cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotPlaced {
    /// The pod cannot be served as it is.
    Unusable {
        /// What is wrong with it.
        problem: Arc<str>,
    },
    /// No dynamic pool is ready and has instance types.
    NoPool,
    /// No node, existing or new, fits.
    Unschedulable {
        /// The scheduler's nearest cause.
        explanation: Arc<str>,
    },
    /// The new node would take its pool over a limit.
    LimitReached {
        /// The pool.
        pool: Name,
        /// The resource that is limited.
        resource: Arc<str>,
        /// What would be used with the node.
        used: Quantity,
        /// What may be used.
        limit: Quantity,
    },
    /// The claim made for it was refused by the API server.
    ClaimRefused {
        /// What the server said.
        message: Arc<str>,
    },
    /// The solver failed.
    SolveFailed,
}

impl Reason {
    /// The cause by which the metrics of disrupted claims count a deletion, if they count it.
    #[must_use]
    pub fn deletion_cause(&self) -> Option<DeletionCause> {
        match self {
            Reason::Deletion(cause) => Some(*cause),
            _ => None,
        }
    }
}

impl DeletionCause {
    /// As metrics name it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            DeletionCause::Interrupted(kind) => kind.label(),
            DeletionCause::InsufficientCapacity => "insufficient_capacity",
            DeletionCause::NodeClassNotReady => "nodeclass_not_ready",
            DeletionCause::LaunchTimeout => "launch_timeout",
            DeletionCause::RegistrationTimeout => "registration_timeout",
            DeletionCause::Expired => "expired",
            DeletionCause::GarbageCollected => "garbage_collected",
            DeletionCause::ReservationEnding => "capacity_reservation_expiring",
            DeletionCause::Overprovisioned => "overprovisioned",
            DeletionCause::RebootFailed(_) => "unhealthy",
        }
    }
}
