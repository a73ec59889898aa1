//! Zonal shifts carried out: the daemon that keeps pools out of zones, and the commands beside it.
//!
//! ```text
//!   SQS ── poller ──► ┌──────┐ ◄── account ── EC2, EKS, ARC
//!                     │ desk │ ──► state store ── ConfigMap kerf-zonal-shift
//!  API server ─mirrors│      │ ──► hands ── NodePools, nodes
//!      ▲              └──────┘ ──► announcer ── Events;  metrics, complaints ── web
//!      └── console ── kerf zonal-shift status | start | end
//! ```
//!
//! Nothing is decided here: [`kerf_notices::zonal_shift`] says what the state is and which changes
//! follow from it. This crate feeds it and does what it says. **A message is deleted only after the
//! state that holds its effect is stored**; pools are changed afterwards, from the state, so the
//! process may end between any two steps.
//!
//! The daemon (feature `daemon`) starts at [`Daemon`], the commands at [`Console`]. They meet in the
//! ConfigMap alone, which is why the commands need no AWS account.

mod api_call;
mod clock;
mod console;
mod kinds;
mod state_store;

#[cfg(feature = "daemon")]
mod account;
#[cfg(feature = "daemon")]
mod announcer;
#[cfg(feature = "daemon")]
mod complaints;
#[cfg(feature = "daemon")]
mod daemon;
#[cfg(feature = "daemon")]
mod desk;
#[cfg(feature = "daemon")]
mod hands;
#[cfg(feature = "daemon")]
mod metrics;
#[cfg(feature = "daemon")]
mod mirror;
#[cfg(feature = "daemon")]
mod mirrors;
#[cfg(feature = "daemon")]
mod offering;
#[cfg(feature = "daemon")]
mod poller;
#[cfg(feature = "daemon")]
mod surroundings;
#[cfg(feature = "daemon")]
mod web;

pub use api_call::ApiFailure;
pub use clock::{Clock, system_clock};
pub use console::{Console, ConsoleError};
pub use state_store::{StateStore, StoreError};

#[cfg(feature = "daemon")]
pub use account::Account;
#[cfg(feature = "daemon")]
pub use daemon::{Daemon, DaemonError, Settings};
#[cfg(feature = "daemon")]
pub use offering::{AvoidingZones, OfferingError, ShiftReader, ShiftedZones};

/// The Lease whose holder polls and writes; the name of the reference deployment, so that one can
/// take the other's place.
pub const LEASE: &str = "karpenter-sqs-subscriber-leader";
