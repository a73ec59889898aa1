//! A problem, read and numbered: pods that are alike, instance types, nodes, and the rules between
//! them.
//!
//! Start with [`base`]. What is read here is shared by every what-if about the same cluster.

pub(crate) mod base;
pub(crate) mod bound_shapes;
pub(crate) mod class;
pub(crate) mod cluster;
pub(crate) mod counted_nodes;
pub(crate) mod daemon;
pub(crate) mod demand;
pub(crate) mod domains;
pub(crate) mod group;
pub(crate) mod instance_type;
pub(crate) mod known_entries;
pub(crate) mod node;
pub(crate) mod node_kind;
pub(crate) mod occupancy;
pub(crate) mod placement;
pub(crate) mod shape_table;
pub(crate) mod shapes;
pub(crate) mod universe;
