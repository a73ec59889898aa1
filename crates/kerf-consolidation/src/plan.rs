//! What to remove and what to launch, in which order, and what it saves.

use kerf_model::price::Price;
use kerf_scheduler::{Destination, Displaced, NewNode};
use serde::{Deserialize, Serialize};

use crate::balanced::Score;
use crate::eviction_cost::EvictionCost;
use crate::kept::Kept;

/// One plan for a whole cluster. Nodes and pods are named by their index in the problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What to do, in the order it should be carried out. Each is legal once those before it are
    /// carried out, and no pod moves twice.
    pub moves: Vec<Move>,
    /// What the nodes cost before …
    pub price_before: Price,
    /// … and after, new nodes at their cheapest.
    pub price_after: Price,
    /// No plan can save more than this, whatever is evicted for it.
    pub saving_bound: Price,
    /// Of each node that stays, why; none for those that go.
    pub kept: Vec<Option<Kept>>,
    /// Whether the search came to its end.
    pub is_complete: bool,
}

impl Plan {
    /// What the plan saves, new nodes at their cheapest.
    #[must_use]
    pub fn saving(&self) -> Price {
        self.price_before.checked_sub(self.price_after).unwrap_or(Price::ZERO)
    }

    /// What it costs to evict everybody who moves.
    #[must_use]
    pub fn eviction_cost(&self) -> EvictionCost {
        self.moves.iter().map(|each| each.eviction_cost).sum()
    }
}

/// Nodes that go together, and what comes for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// The nodes that go, ascending.
    pub removed: Vec<usize>,
    /// What to launch first.
    pub launches: Vec<Launch>,
    /// Where pods go that go to nodes there are.
    pub destinations: Vec<Destination>,
    /// What is saved, each launch at its cheapest.
    pub saving: Price,
    /// What is saved whatever the launches turn out to be.
    pub saving_at_least: Price,
    /// What it costs to evict the pods and to take the nodes away.
    pub eviction_cost: EvictionCost,
    /// After so many seconds it has paid for itself.
    pub payback_seconds: u64,
    /// Whether it moves pods that were moved in vain before.
    pub was_undone: bool,
    /// What it is worth to pools whose policy is Balanced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
}

/// A node to launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// What it must be, and the instance types it may be, cheapest first. Its own list of pods is
    /// empty: they are named below.
    pub node: NewNode,
    /// Which pods are meant for it.
    pub pods: Vec<Displaced>,
    /// What it costs at most, whichever of its instance types and offerings it becomes.
    pub worst_price: Price,
}
