//! From the API server's objects to the engine's: what a watch tells becomes events.
//!
//! [`Observer`] joins what the API keeps apart (pods and their storage, nodes and what their volume
//! drivers report, daemon sets and their pods, pods and who selects them), finds out what went while
//! nobody was watching, and sets aside what it cannot understand.

pub(crate) mod claim;
mod daemon_sets;
mod dependent_pods;
mod interner;
mod legacy_update;
mod listing;
pub(crate) mod meta;
mod neighbours;
pub(crate) mod node;
pub(crate) mod node_class;
mod observer;
pub(crate) mod overlay;
mod pod;
mod pod_disruption_budget;
mod pods_by_owner;
pub(crate) mod pool;
pub(crate) mod pool_manifest;
mod shift_update;
mod volumes;
mod watch_update;

pub use observer::Observer;
pub(crate) use observer::namespaced;
pub use shift_update::ShiftUpdate;
pub use watch_update::{Change, Guarded, WatchUpdate};
