//! The router's rules, one scenario each, in an account that a test describes in a few lines.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod acceptance;
mod account;
mod broadcasts;
mod forgeries;
mod lookups;
mod queues;
mod strays;
