//! Zonal shifts on AWS: the daemon that keeps pools out of zones, and the commands beside it.
//!
//! ```text
//!   SQS ── announcements ──► ┌──────────────────────┐
//!  API server ── watches ──► │ kerf_kube::Controller │──► ConfigMap kerf-zonal-shift, NodePools,
//!   EC2, EKS, ARC ─ account ►│   role ZonalAutoshift │    nodes, Events, metrics, log
//!      ▲                     └──────────────────────┘
//!      └── console ── kerf zonal-shift status | start | end
//! ```
//!
//! Nothing is decided here: the engine's planner of zonal shifts ([`kerf_engine::zonal_shift`]) says
//! what to ask, store and change, and the controller carries it out. This crate brings what only AWS
//! knows: messages ([`Announcements`]), descriptions and lists of shifts ([`Account`]), and which
//! kinds of pools and node classes to look for. **A message is deleted only after the state that
//! holds its effect is stored**; pools are changed afterwards, from the state, so the process may
//! end between any two steps.
//!
//! [`Daemon`] is the role as a process of its own; `kerf controller --enable-zonal-autoshift` gives
//! its controller the same parts ([`ShiftsOf`]). The commands start at [`Console`]: they share
//! nothing with either but the ConfigMap, which is why they need no AWS account. Offering mode is
//! [`ShiftReader`].

mod account;
mod announcements;
mod api_call;
mod console;
mod daemon;
mod offering;
mod served;
mod state_store;

pub use account::Account;
pub use announcements::Announcements;
pub use api_call::ApiFailure;
pub use console::{Console, ConsoleError};
pub use daemon::{Daemon, ShiftsOf, StartedDaemon};
pub use offering::{OfferingError, ShiftReader, ShiftedZones};
pub use state_store::{StateStore, StoreError};

/// The Lease whose holder polls and writes; the name of the reference deployment, so that one can
/// take the other's place.
pub const LEASE: &str = "karpenter-sqs-subscriber-leader";
