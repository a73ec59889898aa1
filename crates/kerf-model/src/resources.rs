//! Amounts of several resources at once.
//!
//! [`ResourceList`] is the form of the border: names and quantities, in name order. A solver turns
//! it into [`ResourceVector`]s over one [`ResourceNames`] table, where a resource is an index and
//! an amount a plain integer.

mod human;
mod list;
mod names;
mod vector;

pub use human::{human, human_noun, human_pair};
pub use list::ResourceList;
pub use names::{ResourceId, ResourceNames};
pub use vector::ResourceVector;

/// Processor time, in cores.
pub const CPU: &str = "cpu";
/// Memory, in bytes.
pub const MEMORY: &str = "memory";
/// Local scratch storage, in bytes.
pub const EPHEMERAL_STORAGE: &str = "ephemeral-storage";
/// Pods a node can hold.
pub const PODS: &str = "pods";
/// Nodes, as counted by a pool's limits.
pub const NODES: &str = "nodes";
/// How the names of huge page resources start; the page size follows.
pub const HUGE_PAGES_PREFIX: &str = "hugepages-";
