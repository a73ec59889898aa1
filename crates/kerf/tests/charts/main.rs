//! The charts in `deploy/charts`, judged and rendered by Helm and installed on a real API server;
//! what is installed is then run.
//!
//! | Promise | Test |
//! |---|---|
//! | Helm and the schema find nothing wrong; values that there are not are refused by name | `rendering` |
//! | values of four eras give the same settings, and the newest wins | `rendering` |
//! | every variable that is set is one that the controller reads | `rendering` |
//! | rights are those of `deploy/rbac*.yaml` | `rendering` |
//! | the release is admitted by the restricted profile and comes up; an upgrade changes nothing | `installing` |
//! | the installed container leads, launches nodes on AWS and takes them away | `installing` |
//! | `kerf install` refuses what would do harm, shows what it would do, does it, and then finds nothing to do | `install` |
//! | `kerf doctor` names what lacks in the account until it is there | `doctor` |
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod doctor;
mod install;
mod installing;
mod manifests;
mod rendering;

/// Where the charts are in the workspace.
const CHART: &str = "deploy/charts/karpenter";
const CRD_CHART: &str = "deploy/charts/karpenter-crd";
