//! Disks.

use kerf_model::quantity::Quantity;

use crate::ec2_node_class::{BlockDevice, BlockDeviceMapping, VolumeType};
use crate::legacy::block_device as old;

const BYTES_PER_GIB: i128 = 1 << 30;
const BYTES_PER_GB: i128 = 1_000_000_000;
/// The largest size an EC2NodeClass may give in Gi; above it only G reaches EC2's 64 T.
const GIB_MAX: i128 = 59_000;

/// The same disks. A size in a spelling that an EC2NodeClass refuses is written in another one.
pub(super) fn convert(mappings: &[old::BlockDeviceMapping]) -> Vec<BlockDeviceMapping> {
    mappings
        .iter()
        .map(|mapping| BlockDeviceMapping {
            device_name: mapping.device_name.clone(),
            ebs: mapping.ebs.as_ref().map(volume),
            root_volume: None,
        })
        .collect()
}

fn volume(volume: &old::BlockDevice) -> BlockDevice {
    let old::BlockDevice {
        delete_on_termination,
        encrypted,
        iops,
        kms_key_id,
        snapshot_id,
        throughput,
        volume_size,
        volume_type,
    } = volume;
    BlockDevice {
        delete_on_termination: *delete_on_termination,
        encrypted: *encrypted,
        iops: *iops,
        kms_key_id: kms_key_id.clone(),
        snapshot_id: snapshot_id.clone(),
        throughput: *throughput,
        volume_initialization_rate: None,
        volume_size: volume_size.as_ref().map(|size| size_text(&size.text())),
        volume_type: volume_type.as_deref().and_then(known_type),
    }
}

fn known_type(name: &str) -> Option<VolumeType> {
    serde_json::from_value(name.into()).ok()
}

/// The size as an EC2NodeClass may write it, never smaller. EC2 counts whole Gi, and so did the
/// old controller after rounding up.
fn size_text(written: &str) -> String {
    if is_admitted(written) {
        return written.to_owned();
    }
    let bytes = Quantity::parse(written).unwrap_or_default().value();
    match divide_up(bytes, BYTES_PER_GIB) {
        gib @ ..=GIB_MAX => format!("{gib}Gi"),
        _ => format!("{}G", divide_up(bytes, BYTES_PER_GB)),
    }
}

fn divide_up(amount: i128, unit: i128) -> i128 {
    (amount + unit - 1) / unit
}

/// What the pattern of `volumeSize` in an EC2NodeClass admits among the sizes that make sense.
fn is_admitted(text: &str) -> bool {
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(unit_at);
    let number: u32 = digits.parse().unwrap_or(0);
    if number == 0 || digits.starts_with('0') {
        return false;
    }
    match unit {
        "Gi" => number <= 59_000,
        "G" => number <= 64_000,
        // The pattern has gaps: the second digit ends at 7, except in 58.
        "Ti" => number < 10 || number == 58 || (number < 58 && number % 10 <= 7),
        "T" => number <= 64,
        _ => false,
    }
}
