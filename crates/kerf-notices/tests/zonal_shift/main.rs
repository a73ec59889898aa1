//! Zonal shifts: what is made of announcements, and how pools change and come back.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod acceptance;
mod announcements;
mod auto_mode;
mod commands;
mod every_interleaving;
mod lost_events;
mod nodes;
mod offering_mode;
mod operators;
mod pool_edits;
mod world;
