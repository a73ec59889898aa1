//! Fleets, what becomes of their instances, and what is announced about them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod account;
mod fleet;
mod life;
mod limits;
mod reserved;
