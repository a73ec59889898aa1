//! Real parts for tests: a Kubernetes control plane, simulated nodes and an AWS stand-in, as plain
//! processes on loopback. No container engine, no root, no account.
//!
//! ```text
//!   ControlPlane ── etcd ◄─ kube-apiserver ◄─┬─ kube-controller-manager
//!                                            ├─ kube-scheduler
//!                                            └─ kwok (plays the kubelet of marked nodes)
//!   Helm ────────── lints, renders and installs the charts in `deploy/charts`
//!   ApiProxy ────── threads of this process, before the API server: breaks calls by rule
//!   AwsStandIn ──── moto, and what it lacks (`testbed/aws`)
//!   Kubelets ────── a thread of this process: nodes for the stand-in's instances
//!   ArcStandIn ──── a thread of this process: zonal shifts, which moto lacks
//!   ImdsStandIn ─── the same: the metadata service of one instance
//! ```
//!
//! Start reading at [`ControlPlane::start`] and [`Options`]. What is needed is built once from the
//! Go module in `testbed/` and kept in the user's cache, keyed by its content.
//!
//! **Nothing outlives its owner.** Each part runs under a keeper that ends it when a pipe closes;
//! this process holds the other end. The kernel closes it however the process dies, so a panic, a
//! Ctrl-C and a `SIGKILL` all leave no process behind. Dropping a [`ControlPlane`] does the same
//! and waits.
//!
//! This crate must never know what Kerf decides or how: it starts programs and says where they are.

mod aws;
mod error;
mod kubernetes;
mod person;
mod programs;
#[cfg(test)]
mod tests;

pub use aws::arc::ArcStandIn;
pub use aws::control::AwsCall;
pub use aws::fault_proxy::{Fault, FaultProxy, FaultRule};
pub use aws::imds::{ImdsFault, ImdsStandIn};
pub use aws::kubelets::{Boot, Kubelets};
pub use aws::machine::Machine;
pub use aws::quick_start::{QuickStart, ZoneSubnet};
pub use aws::stand_in::AwsStandIn;
pub use aws::template_lint::lint_template;
pub use error::{Error, Result};
pub use kubernetes::access::User;
pub use kubernetes::api_proxy::{ApiCall, ApiFault, ApiProxy, ApiRule, Calls, Held};
pub use kubernetes::control_plane::ControlPlane;
pub use kubernetes::helm::Helm;
pub use kubernetes::options::{Options, Part};
pub use kubernetes::shared::Shared;
pub use person::run_for_a_person;
pub use programs::program::Program;
pub use programs::toolchain::karpenter_program;
pub use programs::wait::wait_until;
