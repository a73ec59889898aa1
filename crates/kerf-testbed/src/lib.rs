//! Real parts for tests: a Kubernetes control plane, simulated nodes and an AWS stand-in, as plain
//! processes on loopback. No container engine, no root, no account.
//!
//! ```text
//!   ControlPlane ── etcd ◄─ kube-apiserver ◄─┬─ kube-controller-manager
//!                                            ├─ kube-scheduler
//!                                            └─ kwok (plays the kubelet of marked nodes)
//!   AwsStandIn ──── moto
//!   ArcStandIn ──── a thread of this process: zonal shifts, which moto lacks
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

mod access;
mod arc;
mod aws;
mod aws_call;
mod cache;
#[cfg(feature = "client")]
mod client;
mod command;
mod control_plane;
mod error;
mod fault_proxy;
mod fingerprint;
mod flags;
mod go_module;
mod listening;
mod options;
mod person;
mod port;
mod process;
mod program;
mod progress;
mod shared;
mod template_lint;
#[cfg(test)]
mod tests;
mod toolchain;
mod wait;
mod work_dir;

pub use access::User;
pub use arc::ArcStandIn;
pub use aws::AwsStandIn;
pub use control_plane::ControlPlane;
pub use error::{Error, Result};
pub use fault_proxy::{Fault, FaultProxy, FaultRule};
pub use options::{Options, Part};
pub use person::run_for_a_person;
pub use program::Program;
pub use shared::Shared;
pub use template_lint::lint_template;
pub use wait::wait_until;
