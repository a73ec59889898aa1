//! From the API server's objects to the engine's: what a watch tells becomes events.
//!
//! [`Observer`] joins what the API keeps apart (pods and their storage, nodes and what their volume
//! drivers report, daemon sets and their pods, pods and who selects them), finds out what went while
//! nobody was watching, and sets aside what it cannot understand.

pub(crate) mod claim;
mod daemon_sets;
mod disruption_guard;
mod interner;
mod kindred;
mod listing;
pub(crate) mod meta;
mod neighbours;
mod news;
pub(crate) mod node;
mod node_class;
mod observer;
mod pod;
pub(crate) mod pool;

pub use news::{Change, News};
pub use observer::Observer;
