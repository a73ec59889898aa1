//! Objects from files, complete or not: what `kerf plan` is given.
//!
//! ```text
//!  object ─ add ─► Manifests ─ observe ─► ObservedManifests ─ problem ─► PlanProblem
//!                      │                   (Observer, Engine)  (kerf_engine::dry_run)
//!                      └─ foreseen pods, volume claims, namespaces
//! ```
//!
//! What files leave out, because a cluster's controllers would add it, is foreseen here. From then
//! on an object goes the controller's own way: watch update, event, world, placement problem.

mod autoscaler;
mod capacity_buffer;
mod foresee;
mod intake;
mod kinds;
mod observe;
mod plan_problem;
mod present;
mod rollout;
mod strict;
mod unknown_field;

use k8s_openapi::api::core::v1::{Pod, PodTemplate};
use kerf_api::FieldError;
use kerf_api::capacity_buffer::CapacityBuffer;
use kerf_api::node_pool::NodePool;

use crate::client::WatchUpdate;
use crate::workload::Workload;

pub use autoscaler::Autoscaler;
pub use intake::{Intake, read};
pub use observe::ObservedManifests;
pub use plan_problem::{PlanProblem, SetAside};
pub use strict::ManifestWarning;

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
pub struct SourcedError {
    /// The place of the object in the input.
    pub source: usize,
    /// What is wrong with it.
    pub problem: FieldError,
}

/// Objects from files.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// Pods.
    pub pods: Vec<Sourced<Pod>>,
    /// Objects whose controllers keep numbers of pods.
    pub workloads: Vec<Sourced<Workload>>,
    /// What decides how many pods workloads have.
    pub autoscalers: Vec<Sourced<Autoscaler>>,
    /// Pools.
    pub node_pools: Vec<Sourced<NodePool>>,
    /// Room that is kept free.
    pub buffers: Vec<Sourced<CapacityBuffer>>,
    /// Templates that room may have the shape of.
    pub pod_templates: Vec<Sourced<PodTemplate>>,
    /// What an API server would not take as it stands.
    pub warnings: Vec<Sourced<ManifestWarning>>,
    /// Objects of other kinds, as a watch would report them.
    pub others: Vec<Sourced<WatchUpdate>>,
}

/// Problems of one object, each with its source.
fn sourced(source: usize, problems: Vec<FieldError>) -> impl Iterator<Item = SourcedError> {
    problems.into_iter().map(move |problem| SourcedError { source, problem })
}
