//! The event router's two fronts: a daemon that long-polls, and a Lambda function.
//!
//! ```text
//!   daemon ── queue reader ┐                        ┌─► EC2: whose instances are
//!                          ├─► Routing ── Executor ─┼─► SQS: where queues are, messages
//!   lambda ── handler ─────┘      │                 └─► DynamoDB: the table of clusters
//!                                 └─ Router, Batch (kerf-notices): every decision
//! ```
//!
//! Nothing is decided here: [`Routing`] does what a batch asks for, tells it what came of it, and
//! asks again. Which clusters there are is searched for beside the batches, which do not wait for
//! it longer than they must. **A message is deleted only after its verdict**, and one that failed stays.

mod daemon;
mod executor;
mod lambda;
mod log;
mod metrics;
mod redrive;
mod routing;
mod status;
mod tagged_queues;

pub use daemon::{Daemon, DaemonSettings};
pub use executor::{Executor, ExecutorSettings};
pub use lambda::{DirectFailure, Function};
pub use redrive::{Redriven, redrive};
pub use routing::Routing;
pub use status::{QueueStatus, Status, status};
