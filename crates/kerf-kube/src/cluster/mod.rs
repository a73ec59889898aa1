//! A cluster as a set of objects, complete or not: what `kerf plan` is given.

mod assemble;
mod defaults;
mod intake;
mod kinds;
mod pods;

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::storage::v1::CSINode;
use kerf_api::Problem;
use kerf_api::node_claim::NodeClaim;

use crate::scheduler_config::SchedulerConfig;
use crate::storage::Storage;
use crate::workload::Workload;

pub use assemble::{Assembly, SetAside};
pub use intake::{Intake, read};

/// Most pods that are foreseen from templates. Kubernetes itself holds 150,000 in a cluster.
pub const FORESEEN_PODS_MAX: i64 = 1_000_000;

/// An object and which of the input it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The place of the object in the input.
    pub source: usize,
    /// The object.
    pub object: T,
}

/// What is wrong with an object of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedProblem {
    /// The place of the object in the input.
    pub source: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// Objects of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cluster {
    /// Pods.
    pub pods: Vec<Sourced<Pod>>,
    /// What keeps numbers of pods.
    pub workloads: Vec<Sourced<Workload>>,
    /// What runs on every node it matches.
    pub daemon_sets: Vec<Sourced<DaemonSet>>,
    /// Nodes.
    pub nodes: Vec<Sourced<Node>>,
    /// Wishes for nodes.
    pub node_claims: Vec<Sourced<NodeClaim>>,
    /// What volume drivers report, by node.
    pub csi_nodes: BTreeMap<String, CSINode>,
    /// Claims, volumes and classes.
    pub storage: Storage,
    /// The labels of each namespace, by name.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// What the Services of each namespace select by, where they select.
    pub services: BTreeMap<String, Vec<BTreeMap<String, String>>>,
    /// How its scheduler is set.
    pub scheduler_config: SchedulerConfig,
}
