//! User data: what an instance is told at its first boot, so that it joins the cluster.
//!
//! Every family of images wants it in another form. What a node class brings itself is merged with
//! what Kerf has to say, and where both speak Kerf has the last word. All of it is plain functions
//! of text: no call is made.

mod al2;
mod al2023;
mod bottlerocket;
mod bottlerocket_settings;
mod bottlerocket_version;
mod error;
mod kubelet_flags;
mod mime;
mod node;
#[cfg(test)]
mod tests;
mod windows;
mod yaml;

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{AmiFamily, InstanceStorePolicy, Kubelet};
use kerf_model::taint::Taint;

use super::Cluster;

pub(crate) use bottlerocket_version::binds_storage_by_default;
pub(crate) use error::{UserDataError, UserDataWarning};
pub(crate) use node::{labels, taints};

/// The most EC2 takes, before it is encoded.
pub(crate) const BYTES_MAX: usize = 16 << 10;
/// From here on the next label may be one too many: 90 % of the most.
const BYTES_WARNING: usize = (BYTES_MAX * 9).div_ceil(10);

/// What a node is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserData<'a> {
    /// The form it is written in.
    pub(crate) family: AmiFamily,
    /// The cluster to join.
    pub(crate) cluster: &'a Cluster,
    /// The kubelet's settings, with nothing left to compute.
    pub(crate) kubelet: &'a Kubelet,
    /// The labels the kubelet may set.
    pub(crate) labels: &'a BTreeMap<String, String>,
    /// The taints of the node when it joins.
    pub(crate) taints: &'a [Taint],
    /// The node class's own user data.
    pub(crate) custom: Option<&'a str>,
    /// What becomes of the disks inside the instance.
    pub(crate) instance_store: Option<InstanceStorePolicy>,
    /// Bottlerocket only: whether the image knows by itself what to keep on these disks.
    pub(crate) binds_storage_by_default: bool,
}

/// User data as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// The text, not encoded yet.
    pub(crate) text: String,
    /// What the owner of the node class should know.
    pub(crate) warnings: Vec<UserDataWarning>,
}

/// Writes user data.
///
/// # Errors
/// The node class's own cannot be merged, the cluster is not known well enough, or all of it
/// together is more than EC2 takes.
pub(crate) fn render(data: &UserData<'_>) -> Result<Rendered, UserDataError> {
    let mut warnings = Vec::new();
    let text = match data.family {
        AmiFamily::AL2 => al2::render(data)?,
        AmiFamily::AL2023 => al2023::render(data)?,
        AmiFamily::Bottlerocket => bottlerocket::render(data, &mut warnings)?,
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => {
            windows::render(data)
        }
        AmiFamily::Custom => data.custom.unwrap_or_default().to_owned(),
    };
    match text.len() {
        bytes if bytes > BYTES_MAX => return Err(UserDataError::TooLarge { bytes }),
        bytes if bytes >= BYTES_WARNING => {
            warnings.push(UserDataWarning::NearlyTooLarge { bytes });
        }
        _ => {}
    }
    Ok(Rendered { text, warnings })
}

impl<'a> UserData<'a> {
    /// The node class's own user data, if it says anything.
    fn own(&self) -> Option<&'a str> {
        self.custom.filter(|text| !text.is_empty())
    }

    /// The first DNS server.
    fn dns(&self) -> Option<&'a str> {
        self.kubelet.cluster_dns.as_ref()?.first().map(String::as_str)
    }

    /// Whether the disks inside the instance are striped together.
    fn is_striped(&self) -> bool {
        self.instance_store == Some(InstanceStorePolicy::RAID0)
    }
}
