//! `kerf controller` with an AWS account, as a program: a real control plane with simulated nodes,
//! stand-ins for EC2, EKS, SQS and ARC, and the rights of `deploy/rbac*.yaml` alone.
//!
//! Interruption notices, from EC2's announcement to the end of the claim, with the router between:
//! `interruption::…`, which is check 13 of `crates/kerf-router/tests/stand_in/main.rs`.
//!
//! What is promised of offering mode, and where it is proved (those of NodePool mode are listed in
//! `crates/kerf-zonal/tests/e2e/main.rs`):
//!
//! | Promise | Test |
//! |---|---|
//! | every offering in the zone is unavailable: new nodes avoid it | `offering_mode::…` |
//! | pods that need the zone are not attempted: no claim is made | `offering_mode::…` |
//! | nodes there are not disrupted by choice; others are | `offering_mode::…`, `kerf-engine/tests/zonal_shift.rs` |
//! | machines there are not ended, and not taken for gone, before the shift is over | `kerf-engine/tests/zonal_shift.rs` |
//! | Events on pools that reach the zone by name and id, and on no other | `offering_mode::…`, `kerf-engine/tests/zonal_shift.rs` |
//! | `karpenter_cloudprovider_zonal_shift_duration{zone,type}` | `offering_mode::…` |
//! | the set is replaced with each read, a failed read keeps the last, expiry counts | `kerf-zonal/tests/e2e/offering.rs`, `kerf-notices/tests/zonal_shift/offering_mode.rs` |
//! | a cluster that ARC does not know stops the start | `kerf-zonal/tests/e2e/offering.rs` |
//! | after the end everything is as before | `offering_mode::…` |
//!
//! And of NodePool mode inside the controller: the leader alone acts, new nodes avoid the zone, those
//! in the zone are replaced elsewhere by drift, a successor goes on from what is stored, and metrics are on the controller's page
//! (`node_pool_mode::…`).
//!
//! Tags of machines are not written yet, so nothing has to be put off there.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aws;
mod interruption;
#[path = "../journal/mod.rs"]
mod journal;
mod node_pool_mode;
mod objects;
mod offering_mode;
mod process;
