//! What a plan is made from: the cluster, and what was decided about each node before.

use std::num::NonZeroUsize;

use kerf_scheduler::PlacementProblem;
use serde::{Deserialize, Serialize};

use crate::eviction_cost::EvictionCost;
use crate::kept::Ineligible;

/// A cluster at one moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// Nodes with their pods, pools with their instance types, and the pods that wait: those of
    /// nodes that are being deleted among them. They keep the places they would get, and one that
    /// finds none stands in nobody's way.
    pub problem: PlacementProblem,
    /// What was decided about each node, in the order of the problem.
    pub nodes: Vec<NodeFacts>,
}

/// What was decided about a node before consolidation is planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Whether it may be removed, and why not.
    pub may_go: Result<(), Ineligible>,
    /// Whether pods of removed nodes may go there: it is initialised, not about to go, and not
    /// inside its pool's `consolidateAfter` window.
    pub may_receive: bool,
    /// What it costs to evict the pods that would need another place, and the node itself
    /// ([`EvictionCost::of_node`]).
    pub reschedule_cost: EvictionCost,
    /// The same for all its pods but those of daemon sets: its share of the disruption that a
    /// Balanced pool is measured by.
    pub disruption_cost: EvictionCost,
    /// Whether an earlier move of its pods was undone before it had paid back: moving them again
    /// needs twice the saving.
    pub was_undone: bool,
}

/// How to plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Whether spot nodes may be replaced by cheaper spot nodes (gate SpotToSpotConsolidation).
    pub spot_to_spot: bool,
    /// A move must have paid back by then.
    pub payback_max_seconds: u64,
    /// What an eviction of cost one is worth avoiding, in micro-dollars.
    pub eviction_micros: u64,
    /// How long a new node and those it replaces are paid for side by side.
    pub launch_overlap_seconds: u64,
    /// Most nodes that are replaced together.
    pub group_max: usize,
    /// On how many threads what-ifs are asked; the plan does not depend on it.
    pub threads: NonZeroUsize,
}

/// Two hours: long enough for any saving that is worth a restart of pods, and short beside the
/// daily wave of most clusters, after which the pods are others anyway.
pub const PAYBACK_MAX_SECONDS_DEFAULT: u64 = 2 * 60 * 60;

/// Three minutes of starting up on one processor at 0.04 dollars an hour.
pub const EVICTION_MICROS_DEFAULT: u64 = 2_000;

/// A node boots in about two minutes, and draining takes about as long as pods take to start.
pub const LAUNCH_OVERLAP_SECONDS_DEFAULT: u64 = 5 * 60;

/// Most nodes that are replaced together; more are better moved in several steps.
pub const GROUP_MAX_DEFAULT: usize = 8;

impl Default for Settings {
    fn default() -> Self {
        Self {
            spot_to_spot: false,
            payback_max_seconds: PAYBACK_MAX_SECONDS_DEFAULT,
            eviction_micros: EVICTION_MICROS_DEFAULT,
            launch_overlap_seconds: LAUNCH_OVERLAP_SECONDS_DEFAULT,
            group_max: GROUP_MAX_DEFAULT,
            threads: NonZeroUsize::MIN,
        }
    }
}
