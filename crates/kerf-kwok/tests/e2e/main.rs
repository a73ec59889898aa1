//! The whole path on a real control plane: pods become nodes and nodes go, by the rights of
//! `deploy/rbac.yaml` alone. One control plane and one controller serve every test of this binary;
//! each test has a pool and a namespace of its own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster;
mod controller;
mod journal;
mod manifest;

mod consolidation;
mod drift;
mod joining;
mod leading;
mod leaving;
mod offers;
mod placement;
mod refusal;
mod scaling;
mod static_pools;
mod telling;
