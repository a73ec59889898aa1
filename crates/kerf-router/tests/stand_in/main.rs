//! The router against a stand-in for AWS: real calls, real queues, injected faults.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod acceptance;
mod elsewhere;
mod fronts;
mod http;
mod place;
mod templates;
