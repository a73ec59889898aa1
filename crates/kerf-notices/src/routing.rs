//! Which cluster's queue a message belongs to.
//!
//! ```text
//!   records ─► Batch ── step ──► Ask   lookups of instances and queues ───────────┐
//!                 ▲        ├───► Send  batches of at most ten, by queue ────────┤ carried out by
//!                 │        ├───► Wait  until a moment (back-off)                │ an edge, or by a
//!                 │        └───► Done  a verdict for every record               │ simulation
//!                 └──────────────────── answers, outcomes ◄─────────────────────┘
//!   Router: what outlives a batch: owners of instances, queues of clusters, what was sent when;
//!           which clusters there are is searched for beside the batches
//! ```
//!
//! Everything is decided here, retries and waits included; time is an argument and calls are
//! data. Start reading at [`Batch::step`]. **A record ends in exactly one [`RoutingVerdict`].**

mod backoff;
mod batch;
mod cluster_search;
mod cost;
mod delivered;
mod delivery;
mod expiring;
mod lookup;
mod memory;
mod owner;
mod pace;
mod plan;
mod queue_search;
mod scope;
mod settings;
mod simulation;
mod static_map;
mod verdict;

pub use backoff::CallFailure;
pub use batch::{Ask, Batch, Limits, Step};
pub use cluster_search::Discovery;
pub use cost::{Cost, EventLoad, Micros};
pub use delivery::{EntryId, EntryOutcome, Outgoing, SendBatch};
pub use lookup::{Lookup, TaggedInstance, Via};
pub use memory::{MemorySize, Router};
pub use owner::Owner;
pub use queue_search::{FoundQueue, QueueQuery};
pub use scope::{RoutedCluster, Scope};
pub use settings::{Forwarding, NameTemplate, RoutingSettings, SettingsError};
pub use simulation::{Faults, RoutingSimulation, SimulationReport};
pub use static_map::{Route, StaticMap};
pub use verdict::{Failure, Outcome, Report, RoutingVerdict, Unrouted};
