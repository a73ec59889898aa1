//! Consolidation: the same pods on fewer or cheaper nodes, as one plan for the whole cluster.
//!
//! **Knows**: what nodes cost, what it costs to evict pods, which nodes may go and which may take
//! pods, as the caller decided; the rules that say when a replacement is worth it.
//!
//! **Must never know**: a cluster's objects, a clock, budgets and their windows, how a move is
//! carried out. Where pods fit is the scheduler's word: there is no second one here.
//!
//! ```text
//!  Snapshot ──► Search ──► Plan
//!               removals without a launch: the scheduler's residual cluster, node by node
//!               replacements: single nodes, then groups, asked on several threads
//! ```
//!
//! The search looks at every node. It can be stopped between any two steps and goes on where it
//! stopped; the plan so far is always legal. The same snapshot has the same plan on any number of
//! threads.
//!
//! Start reading at [`Search`].

mod balanced;
mod eviction_cost;
mod groups;
mod judge;
mod kept;
mod kept_text;
mod launches;
mod node_price;
mod payback;
mod plan;
mod refusals;
mod removals;
mod replacements;
mod search;
mod snapshot;
mod visiting_order;
mod wave;

pub use balanced::Score;
pub use eviction_cost::EvictionCost;
pub use kept::{Ineligible, Kept};
pub use node_price::node_prices;
pub use payback::{payback_seconds, payback_text};
pub use plan::{Launch, Move, Plan};
pub use search::{Search, plan};
pub use snapshot::{
    EVICTION_MICROS_DEFAULT, GROUP_MAX_DEFAULT, LAUNCH_OVERLAP_SECONDS_DEFAULT, NodeFacts,
    PAYBACK_MAX_SECONDS_DEFAULT, Settings, Snapshot,
};
pub use wave::{Waves, first_wave, waves};
