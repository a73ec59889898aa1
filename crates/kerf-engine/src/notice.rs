//! What the cloud announces about instances before it happens, or as it does.
//!
//! A notice goes in as an [`Event`](crate::event::Event) and comes out of the engine exactly once,
//! as a [`Settled`]. Who brought it may forget it only then, and only if the outcome
//! [says so](NoticeOutcome::is_final).

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::taint::Taint;
use serde::{Deserialize, Serialize};

use crate::observed::{Name, PodKey};
use crate::time::Time;

/// The number its bringer gave a notice; never used twice in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NoticeId(pub u64);

/// An announcement about instances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// By which its bringer hears of the outcome.
    pub id: NoticeId,
    /// What is about to happen, or does.
    pub kind: NoticeKind,
    /// The instances it is about, by the last part of their provider ids.
    pub instances: Vec<Arc<str>>,
    /// How a termination handler answers it.
    #[serde(default)]
    pub handling: Handling,
}

/// How a termination handler answers one notice, beyond what its settings say of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handling {
    /// The names a node may have whose provider id names none of the instances: what the cloud
    /// calls them in its DNS.
    pub node_names: Vec<Name>,
    /// Taints the nodes get with the write that closes them, unless they have one of the key.
    pub taints: Vec<Taint>,
    /// Labels they get with the same write.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Labels that those get which are open until then: what closed the others is another matter.
    #[serde(default)]
    pub labels_if_open: BTreeMap<String, String>,
    /// When the instances will be gone, where that is known.
    pub deadline: Option<Time>,
    /// Whether the nodes keep the pods they have.
    pub cordons_only: bool,
}

/// A node that a notice is about, as it was when the notice was first looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundNode {
    /// The notice.
    pub id: NoticeId,
    /// Its name.
    pub name: Name,
    /// Its identity.
    pub uid: Arc<str>,
    /// Its instance.
    pub provider_id: Option<Arc<str>>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Whether it is drained already, or was, for another reason.
    pub is_known: bool,
    /// The pods on it that have to leave.
    pub leaving: Vec<PodKey>,
    /// Those that stay on it to the end, because a DaemonSet keeps them.
    pub staying: Vec<PodKey>,
    /// Those that make the drain fail, by the settings: nothing is evicted.
    pub blocking: Vec<PodKey>,
}

/// What the cloud announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NoticeKind {
    /// A spot instance is about to be taken.
    SpotInterrupted,
    /// A spot instance may be taken sooner than others.
    RebalanceRecommendation,
    /// An instance is stopping or stopped.
    InstanceStopped,
    /// An instance is ending or gone.
    InstanceTerminated,
    /// Maintenance of an instance is planned.
    ScheduledChange,
    /// The cloud has looked at an instance and tells of maintenance that is planned for it.
    EventStatus,
    /// An instance fails the cloud's checks.
    InstanceStatus,
    /// The host or the network under an instance does.
    SystemStatus,
    /// An instance that stands in for others' reserved capacity is about to be taken.
    CapacityReservationInterrupted,
    /// An Auto Scaling group ends an instance and waits for whoever has something to do first.
    LifecycleTermination,
    /// An Auto Scaling group has launched an instance and waits until it can be used.
    LifecycleLaunch,
    /// What was announced of an instance will not happen, or is over: its node is opened again.
    Withdrawn,
}

/// An instance of Kerf's that something is announced about, for the provider: what it was bought as
/// is running out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedInstance {
    /// What is announced.
    pub kind: NoticeKind,
    /// The labels of its claim.
    pub labels: BTreeMap<String, String>,
}

/// What follows from a rebalance recommendation: the cloud may take an instance back sooner than
/// others, and often does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RebalancePolicy {
    /// Nothing.
    Ignore,
    /// An Event, as in Karpenter.
    #[default]
    Event,
    /// An Event, and the node takes no new pods.
    Cordon,
    /// An Event, and the node is replaced as if the instance were taken.
    Replace,
}

/// A notice that has its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The id its bringer gave it.
    pub id: NoticeId,
    /// Whether it may be forgotten, and why.
    pub outcome: NoticeOutcome,
}

/// What came of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NoticeOutcome {
    /// The deletion of every claim it is about is stored.
    ClaimsDeleted,
    /// An Event was recorded; there is nothing else to do about it.
    EventRecorded,
    /// The settings say that nothing follows from it.
    Ignored,
    /// Every node it is about takes no new pods.
    Cordoned,
    /// None of the instances belongs to a claim.
    NoClaim,
    /// Every node it is about is drained.
    Drained,
    /// None of the instances has a node in this cluster.
    NoNode,
    /// Every node it is about is open to pods again, with no trace of the handler on it.
    Opened,
    /// Pods are there that the settings do not let be evicted: the nodes are closed, and nothing
    /// leaves them. The notice must come again.
    Blocked,
    /// Every node it is about is ready for pods.
    Ready,
    /// A node it is about is not there or not ready. The notice must come again.
    NotReady,
    /// What it says of a zonal shift is stored, or changes nothing.
    ShiftStored,
    /// The deletion could not be stored in time. It is still wanted; the notice must come again.
    NotInTime,
    /// Too much of the cluster would go at once. The notice must come again.
    Held,
}

impl Notice {
    /// A notice that is answered as the settings say.
    #[must_use]
    pub fn new(id: NoticeId, kind: NoticeKind, instances: Vec<Arc<str>>) -> Self {
        Self { id, kind, instances, handling: Handling::default() }
    }
}

impl NoticeKind {
    /// Every kind there is.
    pub const ALL: [NoticeKind; 12] = [
        NoticeKind::SpotInterrupted,
        NoticeKind::RebalanceRecommendation,
        NoticeKind::InstanceStopped,
        NoticeKind::InstanceTerminated,
        NoticeKind::ScheduledChange,
        NoticeKind::EventStatus,
        NoticeKind::InstanceStatus,
        NoticeKind::SystemStatus,
        NoticeKind::CapacityReservationInterrupted,
        NoticeKind::LifecycleTermination,
        NoticeKind::LifecycleLaunch,
        NoticeKind::Withdrawn,
    ];

    /// As Events and logs word it.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            NoticeKind::SpotInterrupted => "the cloud takes the spot instance back in two minutes",
            NoticeKind::RebalanceRecommendation => {
                "the cloud may take the spot instance back sooner than others"
            }
            NoticeKind::InstanceStopped => "the instance is stopping or stopped",
            NoticeKind::InstanceTerminated => "the instance is terminating or gone",
            NoticeKind::ScheduledChange | NoticeKind::EventStatus => {
                "the cloud has planned maintenance of the instance"
            }
            NoticeKind::InstanceStatus => "the instance fails the cloud's checks",
            NoticeKind::SystemStatus => "the host under the instance fails the cloud's checks",
            NoticeKind::CapacityReservationInterrupted => {
                "the cloud takes the instance back for whom its capacity is reserved"
            }
            NoticeKind::LifecycleTermination => "the Auto Scaling group ends the instance",
            NoticeKind::LifecycleLaunch => "the Auto Scaling group has launched the instance",
            NoticeKind::Withdrawn => "what was announced of the instance is over or called off",
        }
    }

    /// As metrics name it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            NoticeKind::SpotInterrupted => "spot_interrupted",
            NoticeKind::RebalanceRecommendation => "rebalance_recommendation",
            NoticeKind::InstanceStopped => "instance_stopped",
            NoticeKind::InstanceTerminated => "instance_terminated",
            NoticeKind::ScheduledChange => "scheduled_change",
            NoticeKind::EventStatus => "event_status",
            NoticeKind::InstanceStatus => "instance_status",
            NoticeKind::SystemStatus => "system_status",
            NoticeKind::CapacityReservationInterrupted => "capacity_reservation_interrupted",
            NoticeKind::LifecycleTermination => "lifecycle_termination",
            NoticeKind::LifecycleLaunch => "lifecycle_launch",
            NoticeKind::Withdrawn => "withdrawn",
        }
    }
}

impl NoticeOutcome {
    /// As metrics name it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            NoticeOutcome::ClaimsDeleted => "claims_deleted",
            NoticeOutcome::EventRecorded => "told",
            NoticeOutcome::Ignored => "ignored",
            NoticeOutcome::Cordoned => "cordoned",
            NoticeOutcome::NoClaim => "no_claim",
            NoticeOutcome::Drained => "drained",
            NoticeOutcome::NoNode => "no_node",
            NoticeOutcome::Opened => "opened",
            NoticeOutcome::Blocked => "blocked",
            NoticeOutcome::Ready => "ready",
            NoticeOutcome::NotReady => "not_ready",
            NoticeOutcome::ShiftStored => "handed_on",
            NoticeOutcome::NotInTime => "not_in_time",
            NoticeOutcome::Held => "held",
        }
    }

    /// Whether the notice may be forgotten: its effect is stored, or there is none.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(
            self,
            NoticeOutcome::NotInTime
                | NoticeOutcome::Held
                | NoticeOutcome::NotReady
                | NoticeOutcome::Blocked
        )
    }
}
