//! Launches against the stand-in for AWS: one instance for each claim, whatever happens to the
//! answers, and what becomes of instances afterwards.
// Calls of the SDK are futures within futures within futures.
#![recursion_limit = "256"]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod account;
mod errors;
mod launching;
mod once;
mod running;
