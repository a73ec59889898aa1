//! What every long-running role stands on: `kerf controller`, `kerf zonal-autoshift`, `kerf router`.
//!
//! ```text
//!  Leadership ── Lease: who may act ──┐
//!  shutdown ──── SIGTERM, SIGINT ─────┼─► Shutdown ─► Tasks::finish
//!  Tasks ─────── a task that died ────┘
//!  http ──────── /metrics, /healthz, /readyz and other pages
//!  metrics ───── Registry ─► Page
//!  queue ─────── Reader ─► Deliveries ─► handler ─► Delivery::delete
//!  FailureLog ── what does not work now, logged once
//!  Heartbeat ─── whether a loop still turns, for liveness
//! ```
//!
//! A role is wired from these parts and adds what it is for. This crate knows Kubernetes only for
//! the Lease and no cloud at all, and it decides nothing.
//!
//! Start reading at [`Tasks`] and [`Leadership`].

pub mod clock;
mod failure_log;
mod heartbeat;
pub mod http;
pub mod identity;
mod leadership;
pub mod lease;
mod lease_term;
pub mod log;
pub mod metrics;
pub mod queue;
pub mod shutdown;
mod tasks;

pub use failure_log::{FailureLog, Kind};
pub use heartbeat::Heartbeat;
pub use leadership::Leadership;
pub use lease::Candidate;
pub use lease_term::LeaseTerm;
pub use shutdown::Shutdown;
pub use tasks::{TaskEnded, Tasks};
