//! `kerf controller --cloud aws` as a program: a real control plane, a stand-in for AWS, somebody who
//! plays the kubelets of its instances, and the rights of `deploy/rbac.yaml` and
//! `deploy/rbac-aws.yaml` alone. All tests use one cluster, one after the other, and leave it empty.
//!
//! | Promise | Test | The large run |
//! |---|---|---|
//! | the quick start of `docs/aws.md`, from its manifests to the last instance's end | `quick_start` | |
//! | a Provisioner of 2021, as a guide prints it: its nodes come and go, it is told how it is | `provisioners` | |
//! | spot is preferred, and bought on demand where there is none | `capacity` | |
//! | a zone without capacity, and a subnet without addresses, is left for another | `capacity` | |
//! | a spot notice: the node is closed and drained, its pods run elsewhere, on another offering | `interruption` | |
//! | nodes whose class selects another image are replaced | `drift` | |
//! | many nodes at once are launched at EC2's pace; all taken back at once, all are replaced | `storm` | `KERF_NODES=200` |
//! | killed while it launches or drains: nothing is leaked, nothing bought twice | `kills` | `KERF_KILLS=100` |
//! | throttled, broken, late, expired, forbidden, in the wrong region: said once, then made good | `faults` | |
//! | classes that cannot work say why and hold up no other | `bad_input` | |
//! | an instance that fails EC2's checks is replaced | `rights` | |
//! | everything the policies and the role file allow is used | `rights` | |
//! | every call is one that they allow | each of them, at its end | |
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod capacity;
mod drift;
mod faults;
mod home;
mod interruption;
#[path = "../journal/mod.rs"]
mod journal;
mod kills;
mod numbers;
mod objects;
mod place;
mod provisioners;
mod quick_start;
mod rights;
mod storm;
