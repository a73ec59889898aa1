//! Nodes that exist or are on their way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pod::Pod;
use crate::resources::ResourceList;
use crate::taint::Taint;

/// A node with what runs on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The name; that of its claim until it has one of its own.
    pub name: String,
    /// The pool it belongs to, if Kerf manages it.
    pub pool: Option<String>,
    /// Its labels, those of its claim until it is registered.
    pub labels: BTreeMap<String, String>,
    /// Its taints, without those that pass before it is ready.
    pub taints: Vec<Taint>,
    /// Whether it has come up fully.
    pub initialized: bool,
    /// What it has in all; counts against the limits of its pool.
    pub capacity: ResourceList,
    /// What pods can use.
    pub allocatable: ResourceList,
    /// The pods on it, those of daemon sets too.
    pub pods: Vec<BoundPod>,
    /// How many volumes each driver can attach here; a driver not listed has no limit.
    pub volume_limits: BTreeMap<String, u32>,
}

/// A pod that runs on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundPod {
    /// The pod.
    pub pod: Pod,
    /// Whether a daemon set put it there.
    pub is_daemon: bool,
    /// Whether it is being deleted: it still takes room, but rules about other pods do not see it.
    pub is_leaving: bool,
}
