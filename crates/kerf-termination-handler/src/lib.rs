//! The termination handler: what AWS announces about instances becomes drained nodes,
//! whoever made these nodes. Names, settings, log lines and metrics are those of AWS Node Termination
//! Handler, so that one takes the place of the other.
//!
//! ```text
//!  IMDS ─ a question every two seconds ─────────────────────► EventRecord ─┐
//!  SQS ─ queue reader ─► message ─► EC2: which instances ─► EventRecord ─► kerf_kube::Controller
//!   ▲                                                          │  role TerminationHandler: drain
//!   └── delete ◄── lifecycle hook completed ◄── outcome ◄──────┘
//! ```
//!
//! Which node an instance is, how it is closed and emptied, and when it counts as drained is
//! decided in the engine. This crate reads messages ([`message`]), knows which instances are its
//! business ([`instance`]), tells what happens in the words people search for ([`record`]) and
//! completes what waits for the end of a drain ([`hooks`]).
//!
//! **A message is deleted only after all its events are through**; any other stays and comes again.
//! Start reading at [`Handler`] and `queue`.

mod context;
mod event;
mod handler;
mod hooks;
pub mod instance;
pub mod kind;
mod kubernetes_events;
pub mod message;
pub mod metadata;
mod metrics;
mod provisioner;
mod queue;
pub mod record;
pub mod settings;
mod store;
pub mod webhook;

pub use handler::{Handler, Source, StartedHandler};

/// The Lease whose holder reads the queue.
pub const LEASE: &str = "aws-node-termination-handler";
