//! Kerf's kinds on a real API server: one server for every test of this binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod definitions;
mod examples;
mod lint_agreement;
mod plan;
mod server;
mod updates;
