//! The disks of an instance.

use aws_sdk_ec2::types::{
    LaunchTemplateBlockDeviceMappingRequest, LaunchTemplateEbsBlockDeviceRequest, VolumeType,
};
use kerf_api::ec2_node_class::{AmiFamily, BlockDevice, BlockDeviceMapping};
use kerf_model::quantity::Quantity;

const GIB: i128 = 1 << 30;

/// The disks a class asks for, or else those that its family brings; none for images that nothing
/// is known about.
pub(super) fn mappings(
    family: AmiFamily,
    own: Option<&[BlockDeviceMapping]>,
) -> Option<Vec<LaunchTemplateBlockDeviceMappingRequest>> {
    let mappings: Vec<_> = match own.filter(|own| !own.is_empty()) {
        Some(own) => own.iter().map(mapping).collect(),
        None => defaults(family).iter().map(|(name, gib)| default(name, *gib)).collect(),
    };
    (!mappings.is_empty()).then_some(mappings)
}

/// The devices of a family, in GiB: what the images need and what pods get by default.
const fn defaults(family: AmiFamily) -> &'static [(&'static str, i32)] {
    match family {
        AmiFamily::AL2 | AmiFamily::AL2023 => &[("/dev/xvda", 20)],
        AmiFamily::Bottlerocket => &[("/dev/xvda", 4), ("/dev/xvdb", 20)],
        AmiFamily::Windows2019 | AmiFamily::Windows2022 | AmiFamily::Windows2025 => {
            &[("/dev/sda1", 50)]
        }
        AmiFamily::Custom => &[],
    }
}

fn default(name: &str, gib: i32) -> LaunchTemplateBlockDeviceMappingRequest {
    let volume = LaunchTemplateEbsBlockDeviceRequest::builder()
        .encrypted(true)
        .volume_type(VolumeType::Gp3)
        .volume_size(gib);
    LaunchTemplateBlockDeviceMappingRequest::builder().device_name(name).ebs(volume.build()).build()
}

fn mapping(own: &BlockDeviceMapping) -> LaunchTemplateBlockDeviceMappingRequest {
    LaunchTemplateBlockDeviceMappingRequest::builder()
        .set_device_name(own.device_name.clone())
        .set_ebs(own.ebs.as_ref().map(volume))
        .build()
}

fn volume(own: &BlockDevice) -> LaunchTemplateEbsBlockDeviceRequest {
    let kind = own.volume_type.map(|kind| {
        use kerf_api::ec2_node_class::VolumeType as Own;
        match kind {
            Own::Standard => VolumeType::Standard,
            Own::Io1 => VolumeType::Io1,
            Own::Io2 => VolumeType::Io2,
            Own::Gp2 => VolumeType::Gp2,
            Own::Sc1 => VolumeType::Sc1,
            Own::St1 => VolumeType::St1,
            Own::Gp3 => VolumeType::Gp3,
        }
    });
    LaunchTemplateEbsBlockDeviceRequest::builder()
        .set_delete_on_termination(own.delete_on_termination)
        .set_encrypted(own.encrypted)
        .set_iops(positive(own.iops))
        .set_throughput(positive(own.throughput))
        .set_kms_key_id(own.kms_key_id.clone())
        .set_snapshot_id(own.snapshot_id.clone())
        .set_volume_size(own.volume_size.as_deref().and_then(gib))
        .set_volume_type(kind)
        .set_volume_initialization_rate(own.volume_initialization_rate)
        .build()
}

/// Zero stands for what EC2 gives by default.
fn positive(number: Option<i64>) -> Option<i32> {
    number.filter(|number| *number > 0).and_then(|number| i32::try_from(number).ok())
}

/// A size in whole GiB, rounded up. The schema lets a bare `Ti` pass, which is no size.
fn gib(text: &str) -> Option<i32> {
    let bytes = Quantity::parse(text).ok()?.value();
    i32::try_from((bytes + GIB - 1) / GIB).ok().filter(|gib| *gib > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_gibibytes_rounded_up() {
        for (text, expected) in
            [("20Gi", Some(20)), ("20G", Some(19)), ("1Ti", Some(1024)), ("1T", Some(932))]
        {
            assert_eq!(gib(text), expected, "{text}");
        }
        assert_eq!(gib("Ti"), None);
    }
}
