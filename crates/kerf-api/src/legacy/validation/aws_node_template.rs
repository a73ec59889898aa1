//! An AWSNodeTemplate, or the same fields written into a Provisioner.

use kerf_model::quantity::Quantity;

use crate::legacy::aws_node_template::{
    AMI_FAMILIES, AWSNodeTemplateSpec, BLOCK_DEVICE_MAPPINGS_MAX, CLUSTER_TAG_PREFIX,
    EXCLUDED_BY_LAUNCH_TEMPLATE,
};
use crate::legacy::block_device::{BlockDevice, MetadataOptions, VOLUME_TYPES};
use crate::legacy::finding::Findings;
use crate::legacy::labels::{MANAGED_BY, PROVISIONER_NAME};
use crate::legacy::selector::{ENTRIES_MAX, IDS_KEYS, SelectorMap, alternatives, is_id};

/// EC2's smallest and largest volume in bytes, as the old webhook had them: 1 G and 64 T.
const VOLUME_BYTES: std::ops::RangeInclusive<i128> = 1_000_000_000..=64_000_000_000_000;

pub(super) fn check(spec: &AWSNodeTemplateSpec, path: &str, findings: &mut Findings) {
    check_launch_template(spec, path, findings);
    check_selectors(spec, path, findings);
    check_family(spec, path, findings);
    check_tags(spec, path, findings);
    if let Some(options) = &spec.metadata_options {
        check_metadata_options(options, &format!("{path}.metadataOptions"), findings);
    }
    check_disks(spec, path, findings);
    let names =
        [("instanceProfile", &spec.instance_profile), ("launchTemplate", &spec.launch_template)];
    for (field, name) in names {
        if name.as_deref() == Some("") {
            findings.error(format!("{path}.{field}"), "must not be empty; leave it out");
        }
    }
}

fn check_launch_template(spec: &AWSNodeTemplateSpec, path: &str, findings: &mut Findings) {
    if spec.launch_template.is_none() {
        return;
    }
    for field in EXCLUDED_BY_LAUNCH_TEMPLATE {
        let is_set = match field {
            "securityGroupSelector" => spec.security_group_selector.is_some(),
            "metadataOptions" => spec.metadata_options.is_some(),
            "amiFamily" => spec.ami_family.is_some(),
            "instanceProfile" => spec.instance_profile.is_some(),
            "blockDeviceMappings" => spec.block_device_mappings.is_some(),
            "userData" => spec.user_data.is_some(),
            _ => spec.ami_selector.is_some(),
        };
        if is_set {
            findings.error(format!("{path}.{field}"), "cannot be combined with launchTemplate");
        }
    }
}

fn check_selectors(spec: &AWSNodeTemplateSpec, path: &str, findings: &mut Findings) {
    let groups_needed = spec.launch_template.is_none();
    let selectors = [
        ("subnetSelector", "subnet", &spec.subnet_selector, true),
        ("securityGroupSelector", "sg", &spec.security_group_selector, groups_needed),
        ("amiSelector", "ami", &spec.ami_selector, false),
    ];
    for (name, prefix, selector, is_required) in selectors {
        let field = format!("{path}.{name}");
        match selector {
            Some(selector) => check_selector(selector, prefix, &field, findings),
            None if is_required => findings.error(field, "the selector is missing"),
            None => {}
        }
    }
}

fn check_selector(selector: &SelectorMap, prefix: &str, field: &str, findings: &mut Findings) {
    if selector.is_empty() {
        findings.error(field, "the selector is empty and would select everything");
    }
    if selector.len() > ENTRIES_MAX {
        findings.error(field, format!("has more than {ENTRIES_MAX} entries"));
    }
    for (key, value) in selector {
        let entry = format!("{field}[{key:?}]");
        if key.is_empty() {
            findings.error(&entry, "the key must not be empty");
        }
        if alternatives(value).is_empty() {
            findings.error(&entry, "the value must not be empty; write \"*\" for any value");
        }
        if IDS_KEYS.contains(&key.as_str()) {
            check_ids(value, prefix, &entry, findings);
            if selector.len() > 1 {
                findings.error(&entry, "cannot be combined with other keys");
            }
        }
    }
}

fn check_ids(value: &str, prefix: &str, field: &str, findings: &mut Findings) {
    for id in alternatives(value).iter().filter(|id| !is_id(id, prefix)) {
        findings.error(field, format!("{id:?} is not an id of the form {prefix}-0123456789abcdef"));
    }
}

fn check_family(spec: &AWSNodeTemplateSpec, path: &str, findings: &mut Findings) {
    let Some(family) = spec.ami_family.as_deref() else { return };
    let field = format!("{path}.amiFamily");
    if !AMI_FAMILIES.contains(&family) {
        let families = AMI_FAMILIES.join(", ");
        findings.error(field, format!("{family:?} is not a family; those are {families}"));
    } else if family == "Custom" && spec.ami_selector.is_none() {
        findings.error(format!("{path}.amiSelector"), "family Custom needs an amiSelector");
    }
}

fn check_tags(spec: &AWSNodeTemplateSpec, path: &str, findings: &mut Findings) {
    for key in spec.tags.iter().flatten().map(|(key, _)| key) {
        let field = format!("{path}.tags[{key:?}]");
        if key.is_empty() {
            findings.error(field, "the key must not be empty");
        } else if key.starts_with(CLUSTER_TAG_PREFIX)
            || [PROVISIONER_NAME, MANAGED_BY].contains(&key.as_str())
        {
            findings.error(field, "this tag is set by Kerf itself; remove it");
        }
    }
}

fn check_metadata_options(options: &MetadataOptions, path: &str, findings: &mut Findings) {
    let choices: [(_, _, &[&str]); 3] = [
        ("httpEndpoint", &options.http_endpoint, &["enabled", "disabled"]),
        ("httpProtocolIPv6", &options.http_protocol_ipv6, &["enabled", "disabled"]),
        ("httpTokens", &options.http_tokens, &["required", "optional"]),
    ];
    for (name, choice, allowed) in choices {
        if let Some(choice) = choice.as_deref().filter(|choice| !allowed.contains(choice)) {
            let allowed = allowed.join(" or ");
            findings.error(format!("{path}.{name}"), format!("{choice:?} must be {allowed}"));
        }
    }
    if options.http_put_response_hop_limit.is_some_and(|hops| !(1..=64).contains(&hops)) {
        findings.error(format!("{path}.httpPutResponseHopLimit"), "must be from 1 to 64");
    }
}

fn check_disks(spec: &AWSNodeTemplateSpec, path: &str, findings: &mut Findings) {
    let disks = spec.block_device_mappings.as_deref().unwrap_or_default();
    if disks.len() > BLOCK_DEVICE_MAPPINGS_MAX {
        findings.error(
            format!("{path}.blockDeviceMappings"),
            format!("has more than {BLOCK_DEVICE_MAPPINGS_MAX} entries"),
        );
    }
    for (index, mapping) in disks.iter().enumerate() {
        let field = format!("{path}.blockDeviceMappings[{index}]");
        if mapping.device_name.as_deref().unwrap_or_default().is_empty() {
            findings.error(format!("{field}.deviceName"), "the device name is missing");
        }
        match &mapping.ebs {
            Some(volume) => check_volume(volume, &format!("{field}.ebs"), findings),
            None => findings.error(format!("{field}.ebs"), "the volume is missing"),
        }
    }
}

fn check_volume(volume: &BlockDevice, path: &str, findings: &mut Findings) {
    if volume.volume_size.is_none() && volume.snapshot_id.is_none() {
        findings.error(path, "volumeSize or snapshotID must be set");
    }
    if let Some(size) = &volume.volume_size {
        let field = format!("{path}.volumeSize");
        match Quantity::parse(&size.text()) {
            Err(problem) => findings.error(field, problem.to_string()),
            Ok(bytes) if !VOLUME_BYTES.contains(&bytes.value()) => {
                findings.error(field, "must be from 1G to 64T");
            }
            Ok(_) => {}
        }
    }
    let volume_type = volume.volume_type.as_deref();
    if let Some(unknown) = volume_type.filter(|name| !VOLUME_TYPES.contains(name)) {
        let types = VOLUME_TYPES.join(", ");
        findings.error(
            format!("{path}.volumeType"),
            format!("{unknown:?} is not a volume type; those are {types}"),
        );
    }
}
