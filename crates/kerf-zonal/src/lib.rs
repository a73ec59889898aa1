//! Zonal shifts carried out: the daemon that keeps pools out of zones, and the commands beside it.
//!
//! ```text
//!   SQS ── poller ───► ┌────────────────┐
//!  API server ─ watches│ reconcile loop │──► executor ── ConfigMap kerf-zonal-shift, NodePools,
//!      ▲               │    (engine)    │◄── answers     nodes; EC2, EKS, ARC
//!      │               └────────────────┘──► reports ── log, metrics, Events, deleted messages
//!      └── console ── kerf zonal-shift status | start | end
//! ```
//!
//! Nothing is decided here: the engine's planner of zonal shifts ([`kerf_engine::zonal_shift`]) says
//! what to ask, store and change. This crate tells it what is watched, received and answered, and
//! carries out what it asks for. **A message is deleted only after the state that holds its effect is
//! stored**; pools are changed afterwards, from the state, so the process may end between any two
//! steps.
//!
//! What calls AWS starts at `Daemon` and `ShiftReader`, the commands at
//! [`Console`]. They meet in the ConfigMap alone, which is why the commands need no AWS account.

mod api_call;
mod clock;
mod console;
mod daemon;
mod kinds;
mod offering;
mod state_store;

pub use api_call::ApiFailure;
pub use clock::{Clock, system_clock};
pub use console::{Console, ConsoleError};
pub use daemon::{Account, Autoshift, Daemon, DaemonError, Inbox, Settings};
pub use offering::{AvoidingZones, OfferingError, ShiftReader, ShiftedZones};
pub use state_store::{StateStore, StoreError};

/// The Lease whose holder polls and writes; the name of the reference deployment, so that one can
/// take the other's place.
pub const LEASE: &str = "karpenter-sqs-subscriber-leader";
