//! How the engine decides; set once at the start.

use kerf_model::budget::DisruptionReason;
use kerf_model::taint::Taint;
use kerf_scheduler::{Binder, SchedulerSettings};
use serde::{Deserialize, Serialize};

use crate::memory::Closing;
use crate::notice::RebalancePolicy;
use crate::observed::{Kind, Name, Pod, PodKey, PodOwner};
use crate::provider::ProviderInfo;
use crate::role::Role;
use crate::time::Span;
use crate::zonal_shift::{self, ShiftSettings};

/// How the engine decides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// What the process is for.
    pub role: Role,
    /// The longest pods wait for more pods to be placed together with.
    pub batch_max: Span,
    /// How long no new pod may come before those there are placed.
    pub batch_idle: Span,
    /// How pods are placed.
    pub scheduler: SchedulerSettings,
    /// What the provider says about itself.
    pub provider: ProviderInfo,
    /// Whether NodeOverlays are read and applied.
    pub node_overlays: bool,
    /// An instance whose node has not joined by then, counted from the claim's creation, will not.
    pub registration_within: Span,
    /// The share of the nodes that notices may take away within a minute; 100 is no bound.
    #[serde(default = "no_bound")]
    pub interruption_percent_per_minute: u8,
    /// What follows from a rebalance recommendation.
    #[serde(default)]
    pub rebalance: RebalancePolicy,
    /// Whether unhealthy nodes are replaced.
    #[serde(default)]
    pub node_repair: bool,
    /// Whether spot nodes are replaced by cheaper spot nodes.
    #[serde(default)]
    pub spot_to_spot: bool,
    /// Whether pools with `replicas` are kept at so many nodes.
    #[serde(default)]
    pub static_capacity: bool,
    /// For which reasons a node may go before its replacement where nothing else is possible.
    #[serde(default)]
    pub terminate_first: TerminateFirst,
    /// How a termination handler drains.
    pub drain: DrainSettings,
    /// Whether Kubernetes Events are recorded.
    #[serde(default = "yes")]
    pub kubernetes_events: bool,
    /// How NodePools are kept out of zones during a zonal shift, if they are.
    pub zonal_shift: Option<ShiftSettings>,
}

/// A quarter of a cluster within a minute is more than AWS takes back of a fleet that is spread over
/// zones and types, and what goes beyond comes a minute later: still within the two of a spot notice.
pub const INTERRUPTION_PERCENT_PER_MINUTE: u8 = 25;

/// What journals of before the bound were decided by.
fn no_bound() -> u8 {
    100
}

fn yes() -> bool {
    true
}

/// For which reasons a node may go before its replacement, where there is no room for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminateFirst {
    /// Because it has drifted.
    pub drift: bool,
    /// Because it is unhealthy.
    pub repair: bool,
}

impl TerminateFirst {
    /// Whether a node that goes for a reason may.
    #[must_use]
    pub fn allows(self, reason: DisruptionReason) -> bool {
        match reason {
            DisruptionReason::Drifted => self.drift,
            DisruptionReason::Unhealthy => self.repair,
            DisruptionReason::Empty | DisruptionReason::Underutilized => false,
        }
    }
}

/// How a termination handler drains nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrainSettings {
    /// How nodes are closed to new pods.
    pub closing: Closing,
    /// Whether pods that are still there shortly before the instance goes are deleted, so that they
    /// have the time they ask for to end.
    pub forces_pods: bool,
    /// How long a drain may take before its notice has to come again; what was begun goes on. By
    /// default as long as a queue hides a message.
    #[serde(default)]
    pub time_out: Option<Span>,
    /// The handler itself, which stays to the end.
    #[serde(default)]
    pub own_pod: Option<PodKey>,
    /// Whether pods leave that ask not to be disrupted: the instance goes all the same.
    #[serde(default)]
    pub evicts_protected: bool,
    /// Whether nodes are found by their provider ids alone, whatever their names are.
    #[serde(default)]
    pub by_provider_id_only: bool,
    /// The load-balancer label that nodes get with the write that closes them, unless they have it.
    #[serde(default)]
    pub label: Option<(String, String)>,
    /// How long pods have to end, instead of as long as each asks for.
    #[serde(default)]
    pub pod_grace_seconds: Option<u32>,
    /// A taint that drained nodes get.
    #[serde(default)]
    pub taint_after: Option<Taint>,
    /// The one node there is, for a handler that runs on it: every notice is about this node.
    #[serde(default)]
    pub own_node: Option<Name>,
    /// What the handler puts on nodes, and takes away when they are opened again.
    #[serde(default)]
    pub marks: Marks,
    /// Pods that make a drain fail before anything is evicted.
    #[serde(default)]
    pub blocking: BlockingPods,
    /// How long a node is closed before the first pod is evicted, so that load balancers leave it
    /// out first; less where the instance goes sooner.
    #[serde(default)]
    pub evict_after: Span,
}

/// What a termination handler puts on nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Labels by key, each with the value that makes it the handler's, if not any does.
    pub labels: Vec<(String, Option<String>)>,
    /// Taints by key.
    pub taints: Vec<String>,
}

/// Pods that make a drain fail, as `kubectl drain` does without the flags that allow them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockingPods {
    /// Those that keep data in an `emptyDir`.
    pub with_local_data: bool,
    /// Those of DaemonSets, which are never evicted.
    pub of_daemon_sets: bool,
}

impl BlockingPods {
    /// Whether a pod makes the drain of its node fail.
    #[must_use]
    pub fn contain(self, pod: &Pod) -> bool {
        let has_ended = pod.has_ended() || pod.owner == PodOwner::Node;
        let is_of_daemon_set = pod.owner == PodOwner::DaemonSet;
        !has_ended
            && match is_of_daemon_set {
                true => self.of_daemon_sets,
                false => self.with_local_data && pod.has_local_data,
            }
    }
}

impl Settings {
    /// The kinds of objects that must be listed before anything is decided.
    pub fn required_kinds(&self) -> impl Iterator<Item = Kind> + use<> {
        let overlays = self.node_overlays && self.role.places_pods();
        self.role.kinds().iter().copied().chain(overlays.then_some(Kind::Overlay))
    }

    /// The kinds of objects to watch: those that are required, and those of NodePool mode of zonal
    /// shifts where that is switched on. A controller does not wait for the latter; its planner
    /// does.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        let own = self.role.kinds();
        let shifts = self.zonal_shift.iter().flat_map(|_| zonal_shift::KINDS);
        self.required_kinds().chain(shifts.filter(|kind| !own.contains(kind)))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            role: Role::default(),
            batch_max: Span::from_seconds(10),
            batch_idle: Span::from_seconds(1),
            // Pods are bound by the cluster's scheduler, which does not know the plan.
            scheduler: SchedulerSettings {
                binder: Binder::KubeScheduler,
                ..SchedulerSettings::default()
            },
            provider: ProviderInfo::default(),
            node_overlays: false,
            registration_within: Span::from_minutes(15),
            interruption_percent_per_minute: INTERRUPTION_PERCENT_PER_MINUTE,
            rebalance: RebalancePolicy::default(),
            node_repair: false,
            spot_to_spot: false,
            static_capacity: false,
            terminate_first: TerminateFirst::default(),
            drain: DrainSettings::default(),
            kubernetes_events: true,
            zonal_shift: None,
        }
    }
}
