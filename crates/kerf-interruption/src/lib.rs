//! The interruption queue of a cluster: what AWS announces about its instances.
//!
//! ```text
//!  SQS ── Consumer ──► kerf_notices::message: what does it say ──► kerf_kube::Controller
//!   ▲        │                                                       engine: what follows
//!   └─ delete ◄── outcome of the notice: stored, or nothing to do ◄──┘
//! ```
//!
//! Nothing is decided here. **A message is deleted only after its notice has an outcome that says
//! so**; any other stays hidden for a while and comes again. What nobody needs and what nobody can
//! read is deleted and counted: it would only circle.

mod consumer;
mod meaning;
#[cfg(test)]
mod tests;

pub use consumer::{Consumer, MESSAGES_AT_ONCE};
