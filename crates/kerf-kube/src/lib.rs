//! Kubernetes as facts that decisions are made of, and as the place where they are carried out.
//!
//! **Knows**: pods, nodes, workloads, daemon sets, storage, namespaces as the API server keeps
//! them, and how they become the model's ([`pod_from_api`], [`node_from_api`], [`Storage`]); which
//! pods are Kerf's to place ([`provisionable`]); how the cluster's scheduler is set
//! ([`SchedulerConfig`]); a set of objects as a placement problem ([`Cluster`]).
//!
//! **Must never know**: AWS, how anything is decided.
//!
//! ```text
//!  Pod, Deployment, … ─┐                      ┌─ set aside: pod + reason
//!  Node, NodeClaim ────┼─► Cluster ─ assemble ┼─ Problem ─► kerf_scheduler
//!  PVC, PV, class ─────┘   (Storage)          └─ problems: source + field + reason
//! ```
//!
//! With the feature `client` also the running [`Controller`]: watches, executors, the Lease, metrics
//! and the [`Cloud`] it is given. Start reading there.
//!
//! An object that cannot be understood is reported with the field and set aside; it never stops
//! the others and never panics.

mod client;
mod cluster;
mod default_spread;
mod node;
mod pod;
mod provisionable;
mod reader;
mod scheduler_config;
mod selector;
mod storage;
mod workload;

pub use client::*;
pub use cluster::{
    Assembly, Cluster, FORESEEN_PODS_MAX, Intake, SetAside, Sourced, SourcedProblem, read,
};
pub use default_spread::{ControllerSelector, deduced_selector};
pub use node::{NodeObjects, is_tracked, node_from_api, node_from_claim};
pub use pod::{Origin, pod_from_api, shape_from_template};
pub use provisionable::{
    NotProvisionable, has_ended, is_bound, is_of_daemon_set, node_of, provisionable,
};
pub use scheduler_config::SchedulerConfig;
pub use storage::{ForeseenClaim, Storage, VolumeProblem};
pub use workload::{Owner, Workload};
