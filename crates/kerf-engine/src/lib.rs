//! The running product as a function: what was observed and the time in, actions with reasons out.
//!
//! **Knows**: the world ([`World`]), what can change it ([`event`]), what can be done about it
//! ([`action`]), and how to decide (the planners, switched on by a [role](role::Role)).
//!
//! **Must never know**: how an action is carried out, a clock, randomness, Kubernetes or AWS types.
//!
//! ```text
//!                 ┌──────────────────── Engine ────────────────────┐
//!  Event ─ handle ┼─► World ─► planners ─► Decision ─► Gate ─► Orders ┼─► executors
//!                 │    ▲                      │ updates                 │       │
//!                 │    └──────────────────────┘                       │       │
//!                 └───────────────────────────────────────────────────┘       │
//!                 ▲────────────── Finished { action, outcome } ◄──────────────┘
//! ```
//!
//! A planner is asked about one subject and says what the world as it is needs, every time anew.
//! The [gate](gate) lets an action through when nothing is under way for its subject and the wait
//! after a failure is over, so retries are decided here and nowhere else.

// Unit tests share the cluster of the integration tests, which names this crate from outside.
#[cfg(test)]
extern crate self as kerf_engine;

#[cfg(test)]
#[path = "../tests/cluster/mod.rs"]
mod cluster;

pub mod action;
mod agenda;
pub mod command;
pub mod condition;
mod containment;
mod decision;
mod dependents;
mod engine;
mod entries;
pub mod event;
mod event_throttle;
mod gate;
pub mod kubernetes_event;
pub mod memory;
pub mod notice;
pub mod observed;
mod planner_runs;
mod planners;
pub mod provider;
pub mod reading;
pub mod reason;
pub mod role;
pub mod sample;
pub mod settings;
pub mod solve;
pub mod time;
mod timestamp;
pub mod world;
pub mod zonal_shift;

pub use containment::{contained, counted as panic_counted};
pub use engine::{Engine, Orders};
pub use gate::BEGIN_WITHIN;
pub use planners::{DryRun, consolidation_snapshot, dry_run};
pub use role::Role;
pub use settings::{BlockingPods, DrainSettings, INTERRUPTION_PERCENT_PER_MINUTE, Marks, Settings};
pub use world::World;
