//! The disks of an instance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::described_by_field;
use crate::schema::rules::rule;

/// Sizes of volumes. Kept to the byte, gaps included (`18Ti` is refused, a bare `Ti` is not), so
/// that the public API and Kerf admit the same manifests.
const VOLUME_SIZE: &str = "^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$";

/// One disk of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockDeviceMapping {
    /// The name the device is attached under, for example `/dev/xvda`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// The volume behind the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs: Option<BlockDevice>,
    /// Whether the kubelet keeps its data here; of at most one disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<bool>,
}

/// An EBS volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = volume_rules()))]
pub struct BlockDevice {
    /// Whether the volume goes with the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_on_termination: Option<bool>,
    /// Whether the volume is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Operations per second to pay for: 3000 to 16000 for gp3, 100 to 64000 for io1 and io2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<i64>,
    /// The key an encrypted volume uses.
    #[serde(rename = "kmsKeyID", default, skip_serializing_if = "Option::is_none")]
    pub kms_key_id: Option<String>,
    /// The snapshot the volume starts from.
    #[serde(rename = "snapshotID", default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// Throughput to pay for in MiB per second: 125 to 1000, gp3 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<i64>,
    /// How fast a snapshot is copied to the volume, in MiB per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 300))]
    pub volume_initialization_rate: Option<i32>,
    /// The size, in Gi, G, Ti or T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = VOLUME_SIZE))]
    pub volume_size: Option<String>,
    /// The kind of volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_type: Option<VolumeType>,
}

/// The kind of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum VolumeType {
    /// Magnetic, previous generation.
    Standard,
    /// Provisioned IOPS.
    Io1,
    /// Provisioned IOPS, more durable.
    Io2,
    /// General purpose, speed by size.
    Gp2,
    /// Cold hard disk.
    Sc1,
    /// Throughput-optimised hard disk.
    St1,
    /// General purpose, speed by setting.
    Gp3,
}

/// What becomes of the disks an instance type brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum InstanceStorePolicy {
    /// They are joined into one striped array that holds the kubelet's and containers' data.
    RAID0,
}

pub(super) fn mappings_rules() -> Value {
    json!([rule(
        "self.filter(x, has(x.rootVolume) && x.rootVolume).size() <= 1",
        "at most one of blockDeviceMappings can be the rootVolume",
    )])
}

fn volume_rules() -> Value {
    json!([
        rule(
            "has(self.snapshotID) || has(self.volumeSize)",
            "one of 'snapshotID' and 'volumeSize' must be set",
        ),
        rule(
            "!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",
            "'volumeInitializationRate' needs a 'snapshotID'",
        ),
    ])
}
