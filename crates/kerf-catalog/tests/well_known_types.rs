//! Machines everyone knows, with figures worked out by hand.

use std::sync::LazyLock;

use kerf_catalog::ami_family::AmiFamily;
use kerf_catalog::aws::{Zone, Zones, aws};
use kerf_catalog::settings::{InstanceStore, NodeClassSettings};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::aws as label;
use kerf_model::labels::{aws::WELL_KNOWN, well_known};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::Operator;

/// A type of us-east-1, where everything but a few is sold.
fn us_east_1(name: &str, settings: &NodeClassSettings) -> InstanceType {
    let types = aws("us-east-1", settings, Zones::All).expect("the region is known");
    types.into_iter().find(|t| t.name == name).unwrap_or_else(|| panic!("{name} is not sold"))
}

/// A type of us-east-1 with default settings.
fn with_defaults(name: &str) -> &'static InstanceType {
    static TYPES: LazyLock<Vec<InstanceType>> = LazyLock::new(|| {
        aws("us-east-1", &NodeClassSettings::default(), Zones::All).expect("the region is known")
    });
    TYPES.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("{name} is not sold"))
}

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).expect("a test's quantity is one")
}

/// The values of a label, joined by commas; `-` where the label cannot be there.
fn label_of(instance_type: &InstanceType, key: &str) -> String {
    let mut entries = instance_type.requirements.iter().filter(|entry| entry.key == key);
    let entry =
        entries.next().unwrap_or_else(|| panic!("{} says nothing of {key}", instance_type.name));
    assert!(entries.next().is_none(), "{} speaks twice of {key}", instance_type.name);
    match entry.operator {
        Operator::In => entry.values.join(","),
        Operator::DoesNotExist => "-".to_owned(),
        other => panic!("{key} {other}"),
    }
}

/// Name; cpu, memory, pods of the capacity; cpu and memory of what pods can use. AL2023, defaults.
///
/// Worked out by hand: memory less 7.5 % rounded up to a MiB (Arm: less 64 MiB first); pods are
/// interfaces × (addresses − 1) + 2; 11 MiB a pod and 255 MiB are reserved, and 100 MiB kept free.
const MACHINES: &[(&str, &str, &str, &str, &str, &str)] = &[
    // 8192 − 615; 3 × 9 + 2; 7577 − (11 × 29 + 255) − 100.
    ("m5.large", "2", "7577Mi", "29", "1930m", "6903Mi"),
    // 8192 − 615; 4 × 14 + 2; 7577 − (11 × 58 + 255) − 100.
    ("c5.xlarge", "4", "7577Mi", "58", "3920m", "6584Mi"),
    // 1024 − 77; 2 × 1 + 2; 947 − (11 × 4 + 255) − 100.
    ("t3.micro", "2", "947Mi", "4", "1930m", "548Mi"),
    // 4096 − 64 = 4032, − 303; 3 × 9 + 2; 3729 − 574 − 100.
    ("c6g.large", "2", "3729Mi", "29", "1930m", "3055Mi"),
    // 4032 − 303; 2 × 3 + 2; 3729 − (88 + 255) − 100.
    ("m6g.medium", "1", "3729Mi", "8", "940m", "3286Mi"),
    // 16384 − 1229; 3 × 9 + 2; 15155 − 574 − 100.
    ("g4dn.xlarge", "4", "15155Mi", "29", "3920m", "14481Mi"),
    // 16384 − 1229; 4 × 9 + 2; 15155 − (418 + 255) − 100.
    ("inf1.2xlarge", "8", "15155Mi", "38", "7910m", "14382Mi"),
    // 393216 − 29492; 15 × 49 + 2; 363724 − (11 × 737 + 255) − 100.
    ("m5.metal", "96", "363724Mi", "737", "95690m", "355262Mi"),
    // The default card alone counts: 15 of 60 interfaces. 1179648 − 88474.
    ("p4d.24xlarge", "96", "1091174Mi", "737", "95690m", "1082712Mi"),
    // Five interfaces on the default card: 5 × 49 + 2. 524288 − 39322.
    ("trn1.32xlarge", "128", "484966Mi", "247", "127610m", "481894Mi"),
];

#[test]
fn capacity_and_allocatable_of_well_known_instances_are_as_worked_out_by_hand() {
    for &(name, cpu, memory, pods, allocatable_cpu, allocatable_memory) in MACHINES {
        let instance_type = with_defaults(name);
        let allocatable = instance_type.allocatable();
        let got = ["cpu", "memory", "pods"].map(|r| instance_type.capacity.quantity(r));
        assert_eq!(got, [cpu, memory, pods].map(quantity), "{name} capacity");
        let got = ["cpu", "memory", "pods"].map(|r| allocatable.quantity(r));
        assert_eq!(
            got,
            [allocatable_cpu, allocatable_memory, pods].map(quantity),
            "{name} allocatable"
        );
        assert_eq!(
            instance_type.capacity.quantity("ephemeral-storage"),
            quantity("20Gi"),
            "{name}"
        );
        assert_eq!(allocatable.quantity("ephemeral-storage"), quantity("17Gi"), "{name}");
    }
}

/// Name, resource, amount of the capacity.
const DEVICES: &[(&str, &str, &str)] = &[
    ("g4dn.xlarge", "nvidia.com/gpu", "1"),
    ("p3dn.24xlarge", "nvidia.com/gpu", "8"),
    ("p4d.24xlarge", "nvidia.com/gpu", "8"),
    ("p4d.24xlarge", "vpc.amazonaws.com/efa", "4"),
    ("p4d.24xlarge", "vpc.amazonaws.com/pod-eni", "62"),
    ("inf1.2xlarge", "aws.amazon.com/neuron", "1"),
    ("inf1.2xlarge", "aws.amazon.com/neuroncore", "4"),
    ("inf1.24xlarge", "aws.amazon.com/neuroncore", "64"),
    ("trn1.32xlarge", "aws.amazon.com/neuron", "16"),
    ("trn1.32xlarge", "aws.amazon.com/neuroncore", "32"),
    ("m5.large", "vpc.amazonaws.com/pod-eni", "9"),
];

#[test]
fn instances_with_devices_have_so_many_of_them() {
    for &(name, resource, amount) in DEVICES {
        assert_eq!(
            with_defaults(name).capacity.get(resource),
            Some(quantity(amount)),
            "{name} {resource}"
        );
    }
}

#[test]
fn instances_without_a_device_do_not_name_it() {
    let names: Vec<String> =
        with_defaults("t3.micro").capacity.iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["cpu", "ephemeral-storage", "memory", "pods"]);
}

/// Name, label, values.
const LABELS: &[(&str, &str, &str)] = &[
    ("m5.large", well_known::INSTANCE_TYPE, "m5.large"),
    ("m5.large", well_known::ARCH, "amd64"),
    ("m5.large", well_known::OS, "linux"),
    ("m5.large", well_known::ZONE, "us-east-1a,us-east-1b,us-east-1c,us-east-1d,us-east-1f"),
    ("m5.large", well_known::REGION, "us-east-1"),
    ("m5.large", well_known::WINDOWS_BUILD, "-"),
    ("m5.large", well_known::CAPACITY_TYPE, "on-demand,spot"),
    ("m5.large", label::INSTANCE_CATEGORY, "m"),
    ("m5.large", label::INSTANCE_GENERATION, "5"),
    ("m5.large", label::INSTANCE_FAMILY, "m5"),
    ("m5.large", label::INSTANCE_SIZE, "large"),
    ("m5.large", label::INSTANCE_CAPABILITY_FLEX, "false"),
    ("c7i-flex.large", label::INSTANCE_CAPABILITY_FLEX, "true"),
    ("c7i-flex.large", label::INSTANCE_FAMILY, "c7i-flex"),
    ("u-6tb1.56xlarge", label::INSTANCE_CATEGORY, "u"),
    ("u-6tb1.56xlarge", label::INSTANCE_GENERATION, "1"),
    ("u7i-12tb.224xlarge", label::INSTANCE_GENERATION, "7"),
    ("m5.large", label::INSTANCE_CPU, "2"),
    ("m5.large", label::INSTANCE_CPU_MANUFACTURER, "intel"),
    ("m6g.medium", label::INSTANCE_CPU_MANUFACTURER, "aws"),
    ("m6g.medium", well_known::ARCH, "arm64"),
    ("m5.large", label::INSTANCE_CPU_SUSTAINED_CLOCK_SPEED_MHZ, "3100"),
    ("m5.large", label::INSTANCE_MEMORY, "8192"),
    ("m5.large", label::INSTANCE_EBS_BANDWIDTH, "4750"),
    ("m3.xlarge", label::INSTANCE_EBS_BANDWIDTH, "-"),
    ("m5.large", label::INSTANCE_NETWORK_BANDWIDTH, "750"),
    ("t2.micro", label::INSTANCE_NETWORK_BANDWIDTH, "-"),
    ("m5.large", label::INSTANCE_LOCAL_NVME, "-"),
    ("g4dn.xlarge", label::INSTANCE_LOCAL_NVME, "125"),
    ("m3.xlarge", label::INSTANCE_LOCAL_NVME, "-"),
    ("m5.large", label::INSTANCE_HYPERVISOR, "nitro"),
    ("t2.micro", label::INSTANCE_HYPERVISOR, "xen"),
    ("m5.metal", label::INSTANCE_HYPERVISOR, ""),
    ("m5.metal", label::INSTANCE_SIZE, "metal"),
    ("m5.large", label::INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED, "false"),
    ("g4dn.xlarge", label::INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED, "true"),
    ("g4dn.xlarge", label::NITRO_SANDBOX, "true"),
    ("m5.large", label::NITRO_SANDBOX, "false"),
    ("m5.large", label::INSTANCE_GPU_NAME, "-"),
    ("g4dn.xlarge", label::INSTANCE_GPU_NAME, "t4"),
    ("g4dn.xlarge", label::INSTANCE_GPU_MANUFACTURER, "nvidia"),
    ("g4dn.xlarge", label::INSTANCE_GPU_COUNT, "1"),
    ("g4dn.xlarge", label::INSTANCE_GPU_MEMORY, "16384"),
    ("p3dn.24xlarge", label::INSTANCE_GPU_COUNT, "8"),
    ("g7e.2xlarge", label::INSTANCE_GPU_NAME, "rtx-pro-server-6000"),
    ("g4dn.xlarge", label::INSTANCE_ACCELERATOR_NAME, "-"),
    ("inf1.2xlarge", label::INSTANCE_ACCELERATOR_NAME, "inferentia"),
    ("inf1.2xlarge", label::INSTANCE_ACCELERATOR_MANUFACTURER, "aws"),
    ("inf1.24xlarge", label::INSTANCE_ACCELERATOR_COUNT, "16"),
    ("m5.large", label::INSTANCE_TENANCY, "default,dedicated"),
    ("m5.large", label::CAPACITY_RESERVATION_ID, "-"),
    ("m5.large", label::CAPACITY_RESERVATION_TYPE, "-"),
    ("m5.large", label::CAPACITY_RESERVATION_INTERRUPTIBLE, "-"),
    ("m5.large", label::PLACEMENT_GROUP_ID, "-"),
    ("m5.large", label::PLACEMENT_GROUP_PARTITION, "-"),
];

#[test]
fn labels_of_well_known_instances_are_complete_and_right() {
    for &(name, key, values) in LABELS {
        assert_eq!(label_of(with_defaults(name), key), values, "{name} {key}");
    }
}

#[test]
fn every_type_speaks_once_of_every_well_known_label() {
    let zone = Zone { name: "us-east-1a".to_owned(), id: Some("use1-az4".to_owned()) };
    let types = aws("us-east-1", &NodeClassSettings::default(), Zones::Only(&[zone]));
    for instance_type in types.expect("known") {
        let common = well_known::WELL_KNOWN.iter().filter(|key| **key != well_known::NODE_POOL);
        for key in common.chain(&WELL_KNOWN) {
            label_of(&instance_type, key);
        }
        assert_eq!(label_of(&instance_type, label::ZONE_ID), "use1-az4");
    }
}

#[test]
fn the_disks_inside_hold_scratch_storage_when_striped() {
    let settings =
        NodeClassSettings { instance_store: InstanceStore::Raid0, ..NodeClassSettings::default() };
    let instance_type = us_east_1("g4dn.xlarge", &settings);
    assert_eq!(instance_type.capacity.quantity("ephemeral-storage"), quantity("125G"));
    // 125 GB less a gibibyte less a tenth.
    let left = quantity("125G").value() - (1 << 30) - 12_500_000_000;
    assert_eq!(instance_type.allocatable().quantity("ephemeral-storage").value(), left);
    let without_disks = us_east_1("m5.large", &settings);
    assert_eq!(without_disks.capacity.quantity("ephemeral-storage"), quantity("20Gi"));
}

#[test]
fn windows_runs_on_x86_instances_and_counts_addresses() {
    let settings =
        NodeClassSettings { ami_family: AmiFamily::Windows2022, ..NodeClassSettings::default() };
    let instance_type = us_east_1("m5.large", &settings);
    assert_eq!(label_of(&instance_type, well_known::OS), "windows");
    assert_eq!(label_of(&instance_type, well_known::WINDOWS_BUILD), "10.0.20348");
    assert_eq!(instance_type.capacity.quantity("pods"), quantity("110"));
    assert_eq!(instance_type.capacity.quantity("ephemeral-storage"), quantity("50Gi"));
    assert_eq!(
        instance_type.capacity.quantity("vpc.amazonaws.com/PrivateIPv4Address"),
        quantity("9")
    );
    // 11 × 110 + 255.
    assert_eq!(instance_type.overhead.kube_reserved.quantity("memory"), quantity("1465Mi"));
    let arm = us_east_1("m6g.medium", &settings);
    assert_eq!(label_of(&arm, well_known::OS), "-");
    assert_eq!(arm.capacity.get("vpc.amazonaws.com/PrivateIPv4Address"), None);
}

#[test]
fn prices_are_those_of_us_east_1_and_spot_an_estimate_below_them() {
    // Type, micro-dollars on demand, micro-dollars of spot: 40 %, with accelerators 50 %.
    for (name, on_demand, spot) in [
        ("m5.large", 96_000, 38_400),
        ("t3.micro", 10_400, 4_160),
        ("g4dn.xlarge", 526_000, 263_000),
        ("p4d.24xlarge", 21_957_642, 10_978_821),
    ] {
        let instance_type = with_defaults(name);
        for offering in instance_type.offerings.iter() {
            let kind = &offering.requirements[0].values[0];
            let expected = if kind == "spot" { spot } else { on_demand };
            assert_eq!(offering.price.micros_per_hour(), expected, "{name} {kind}");
            assert!(offering.available, "{name} {kind}");
        }
    }
}
