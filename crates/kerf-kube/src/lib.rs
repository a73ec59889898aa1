//! Kubernetes as facts that decisions are made of, and as the place where they are carried out.
//!
//! **Knows**: pods, nodes, workloads, daemon sets, storage, namespaces as the API server keeps
//! them, and how they become what the engine observes ([`Observer`]); which pods are Kerf's to place
//! ([`provisionable`]); how the cluster's scheduler is set ([`SchedulerConfig`]); objects from files
//! as a placement problem ([`Manifests`]).
//!
//! **Must never know**: AWS, how anything is decided.
//!
//! ```text
//!  API server ─ watch ─► WatchUpdate ─► Observer ─► Event ─► kerf_engine
//!  files ─► Manifests ───────┘
//! ```
//!
//! The running [`Controller`] holds watches, executors, the Lease, metrics and the [`Provider`] it is
//! given. Start reading there.
//!
//! An object that cannot be understood is reported with the field and set aside; it never stops
//! the others and never panics.

mod client;
mod default_spread;
mod manifests;
mod pod;
mod provisionable;
mod reader;
mod scheduler_config;
mod selector;
mod storage;
mod workload;

pub use client::*;
pub use default_spread::{ControllerSelector, deduced_selector};
pub use manifests::{
    Autoscaler, FORESEEN_PODS_MAX, Intake, ManifestWarning, Manifests, ObservedManifests,
    PlanProblem, SetAside, Sourced, SourcedError, read,
};
pub use pod::{Origin, pod_from_api, shape_from_template};
pub use provisionable::{
    NotProvisionable, has_ended, is_bound, is_of_daemon_set, node_of, provisionable,
};
pub use scheduler_config::SchedulerConfig;
pub use storage::{Storage, StorageGap, VolumeProblem};
pub use workload::{Owner, Workload};
