//! Why a node stays: the nearest cause, typed.

use kerf_model::price::Price;
use kerf_scheduler::Displaced;
use serde::{Deserialize, Serialize};

/// Why a node may not be removed at all, as it was decided before consolidation is planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ineligible {
    /// No pool of Kerf's made it.
    NotManaged,
    /// It has not come up fully.
    NotInitialized,
    /// It is going away already.
    BeingDeleted,
    /// It is being rebooted.
    Rebooting,
    /// Another command has it.
    InCommand,
    /// Pods that wait are meant for it.
    Nominated,
    /// It says so itself.
    DoNotDisruptNode,
    /// A pod on it says so.
    DoNotDisruptPod {
        /// The pod, as `namespace/name`.
        pod: String,
    },
    /// A pod on it may not be evicted.
    PodDisruptionBudget {
        /// The pod, as `namespace/name`.
        pod: String,
        /// The budget, as `namespace/name`.
        pdb: String,
    },
    /// Several budgets cover a pod on it, which the eviction API refuses.
    SeveralPodDisruptionBudgets {
        /// The pod, as `namespace/name`.
        pod: String,
    },
    /// Its pool's budget allows no more now.
    Budget {
        /// When it may, in Unix seconds, if that is known.
        until: Option<i64>,
    },
    /// It has not been quiet for long enough.
    ConsolidateAfter {
        /// When it will have been, in Unix seconds, if nothing comes between.
        until: i64,
    },
    /// `consolidateAfter` is `Never`.
    ConsolidationNever,
    /// Its pool has a fixed number of nodes.
    StaticPool,
    /// Its pool or instance type is not known, or it has no zone or capacity type.
    Unknown,
    /// Its zone is shifted away from.
    ZoneShifted,
}

/// Why a node stays. Nodes and pods are named by their index in the problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    /// It may not be removed at all.
    Ineligible(Ineligible),
    /// Its pool's policy is `WhenEmpty`, and it is not empty.
    OnlyWhenEmpty,
    /// Pods that wait or those of nodes that go are to stand on it.
    Receives,
    /// A pod on it finds no place on nodes that stay, and nothing else was tried.
    NoRoom {
        /// The pod.
        pod: Displaced,
    },
    /// Its pods would fit elsewhere, but not in every order in which kube-scheduler may bind them.
    NotInEveryOrder {
        /// A pod that is left over then.
        pod: Displaced,
    },
    /// A pod on it finds no place, not even on a new node.
    NoPlace {
        /// The pod.
        pod: Displaced,
        /// The nearest reason, in words.
        reason: String,
    },
    /// What would take its place costs as much or more.
    NotCheaper {
        /// What the node costs.
        price: Price,
        /// What the best that was found could cost at worst.
        best: Price,
    },
    /// Only another spot node could take its place, and that is switched off.
    SpotToSpotOff,
    /// Too few instance types would take its place for less.
    TooFewTypes {
        /// How many.
        found: usize,
        /// How many there must be: for a spot node to be replaced by spot, or by `minValues`.
        needed: usize,
    },
    /// It would take too long to pay back.
    PaybackTooLong {
        /// How long.
        payback_seconds: u64,
        /// How long at most: half of it where a move was undone before.
        most_seconds: u64,
    },
    /// The saving is not worth the disruption to its pool, whose policy is `Balanced`.
    NotWorthIt {
        /// The score, in thousandths; half would do.
        score_millis: u64,
    },
    /// The search was stopped before it came to this node.
    NotReached,
}
