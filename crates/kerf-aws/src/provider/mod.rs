//! The provider that launches EC2 instances for NodeClaims.
#![allow(dead_code, reason = "its parts are still being put together")]

mod calls;
mod cluster;
mod context;
mod launch;
mod settings;

pub(crate) use calls::{Bucket, Calls};
pub use cluster::{Cluster, KubernetesVersion};
pub use settings::AwsSettings;
