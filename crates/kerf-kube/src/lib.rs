//! Core Kubernetes objects as the facts decisions are made of.
//!
//! **Knows**: pods, nodes, workloads, daemon sets, storage, namespaces as the API server keeps
//! them, and how they become the model's ([`pod_from_api`], [`node_from_api`], [`Storage`]); which
//! pods are Kerf's to place ([`provisionable`]); how the cluster's scheduler is set
//! ([`SchedulerConfig`]); a set of objects as a placement problem ([`Cluster`]).
//!
//! **Must never know**: AWS, a clock, how anything is decided.
//!
//! ```text
//!  Pod, Deployment, … ─┐                      ┌─ set aside: pod + reason
//!  Node, NodeClaim ────┼─► Cluster ─ assemble ┼─ Problem ─► kerf_scheduler
//!  PVC, PV, class ─────┘   (Storage)          └─ problems: source + field + reason
//! ```
//!
//! An object that cannot be understood is reported with the field and set aside; it never stops
//! the others and never panics.

#[cfg(feature = "client")]
mod announce;
#[cfg(feature = "client")]
mod cloud;
mod cluster;
#[cfg(feature = "client")]
mod connection;
#[cfg(feature = "client")]
mod controller;
mod default_spread;
#[cfg(feature = "client")]
mod execute;
#[cfg(feature = "client")]
mod health;
#[cfg(feature = "client")]
mod lease;
#[cfg(feature = "client")]
mod metrics;
mod node;
#[cfg(feature = "client")]
mod observe;
#[cfg(feature = "client")]
mod offers;
mod pod;
mod provisionable;
mod reader;
mod scheduler_config;
mod selector;
#[cfg(feature = "client")]
mod serve;
mod storage;
#[cfg(feature = "client")]
mod watch;
#[cfg(feature = "client")]
mod words;
mod workload;

#[cfg(feature = "client")]
pub use cloud::{Cloud, Ending};
pub use cluster::{
    Assembly, Cluster, FORESEEN_PODS_MAX, Intake, SetAside, Sourced, SourcedProblem, read,
};
#[cfg(feature = "client")]
pub use connection::connect;
#[cfg(feature = "client")]
pub use controller::{Controller, Farewell};
pub use default_spread::{ControllerSelector, deduced_selector};
#[cfg(feature = "client")]
pub use execute::{Executor, Pace};
#[cfg(feature = "client")]
pub use health::Health;
#[cfg(feature = "client")]
pub use lease::{Candidate, LEASE_DURATION, Lost, RENEW_WITHIN, RETRY_AFTER};
#[cfg(feature = "client")]
pub use metrics::{Metrics, Scrape};
pub use node::{NodeObjects, is_tracked, node_from_api, node_from_claim};
#[cfg(feature = "client")]
pub use observe::{Change, News, Observer};
pub use pod::{Origin, pod_from_api, shape_from_template};
pub use provisionable::{
    NotProvisionable, has_ended, is_bound, is_of_daemon_set, node_of, provisionable,
};
pub use scheduler_config::SchedulerConfig;
#[cfg(feature = "client")]
pub use serve::{serve_health, serve_metrics};
pub use storage::{ForeseenClaim, Storage, VolumeProblem};
pub use workload::{Owner, Workload};
