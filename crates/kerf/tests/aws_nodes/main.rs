//! `kerf controller --cloud aws` as a program: a real control plane, a stand-in for AWS, somebody who
//! plays the kubelets of its instances, and the rights of `deploy/rbac.yaml` and
//! `deploy/rbac-aws.yaml` alone.
//!
//! | Promise | Test |
//! |---|---|
//! | the quick start of `docs/aws.md`, from its manifests to the last instance's end | `quick_start` |
//! | spot is preferred, and bought on demand where there is none | `capacity` |
//! | a zone without capacity is left for another | `capacity` |
//! | a subnet without addresses is left for another | `capacity` |
//! | a spot notice: the node is closed and drained, its pods run elsewhere, on another offering | `interruption` |
//! | every call is one of the list that policies are made from | each of them, at its end |
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capacity;
mod interruption;
#[path = "../journal/mod.rs"]
mod journal;
mod objects;
mod place;
mod quick_start;
