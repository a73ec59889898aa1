//! The arithmetic of capacity and overhead, case by case.

use kerf_catalog::ami_family::AmiFamily;
use kerf_catalog::capacity::{ephemeral_storage, interface_limited_pods, memory, pods};
use kerf_catalog::compatibility::{Incompatibility, incompatibility};
use kerf_catalog::overhead::{
    eviction_threshold, kube_reserved, kube_reserved_cpu_milli, kube_reserved_memory_mib,
};
use kerf_catalog::settings::{
    BlockDevice, InstanceStore, KubeletSettings, NetworkInterface, NodeClassSettings,
    PlacementGroup, VM_MEMORY_OVERHEAD_DEFAULT,
};
use kerf_catalog::shape::{PlacementStrategy, Shape};
use kerf_catalog::share::{Share, ShareError};
use kerf_catalog::table::{shape, shapes};
use kerf_catalog::threshold::{Threshold, ThresholdError};
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

fn of(name: &str) -> &'static Shape {
    shape(name).unwrap_or_else(|| panic!("{name} is not in the tables"))
}

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).expect("a test's quantity is one")
}

fn family(ami_family: AmiFamily) -> NodeClassSettings {
    NodeClassSettings { ami_family, ..NodeClassSettings::default() }
}

fn kubelet(kubelet: KubeletSettings) -> NodeClassSettings {
    NodeClassSettings { kubelet, ..NodeClassSettings::default() }
}

const EFA_ONLY: NetworkInterface = NetworkInterface { card: 0, device: 1, is_efa_only: true };
const PLAIN: NetworkInterface = NetworkInterface { card: 0, device: 0, is_efa_only: false };

#[test]
fn the_kubelet_keeps_a_falling_share_of_each_further_core() {
    let table = [
        (0, 0),
        (1, 60),
        (2, 70),
        (3, 75),
        (4, 80),
        (5, 82),
        (6, 85),
        (8, 90),
        (16, 110),
        (96, 310),
    ];
    for (vcpus, milli) in table {
        assert_eq!(kube_reserved_cpu_milli(vcpus), milli, "{vcpus} cores");
    }
}

#[test]
fn the_kubelet_keeps_memory_for_each_pod() {
    for (pods, mib) in [(0, 255), (1, 266), (4, 299), (29, 574), (110, 1465), (737, 8362)] {
        assert_eq!(kube_reserved_memory_mib(pods), mib, "{pods} pods");
    }
}

#[test]
fn the_hypervisor_takes_its_share_of_memory_rounded_up() {
    for (name, share, expected) in [
        ("m5.large", "0", "8192Mi"),
        ("m5.large", "0.075", "7577Mi"),
        ("m5.large", "0.1", "7372Mi"),
        ("m5.large", "1", "0"),
        ("m6g.medium", "0", "4032Mi"),
        ("m6g.medium", "0.075", "3729Mi"),
    ] {
        let share = Share::parse_ratio(share).expect("a ratio");
        assert_eq!(memory(of(name), share), quantity(expected), "{name} less {share}");
    }
}

#[test]
fn whole_numbers_give_the_memory_that_the_reference_gets_with_fractions() {
    for shape in shapes() {
        let arm = shape.architecture.label() == "arm64";
        let mib = shape.memory_mib - if arm { 64 } else { 0 };
        let bytes = (mib << 20) as f64;
        let overhead_mib = (bytes * 0.075 / 1024.0 / 1024.0).ceil() as i64;
        let expected = Quantity::from_bytes((mib as i64 - overhead_mib) << 20);
        assert_eq!(memory(shape, VM_MEMORY_OVERHEAD_DEFAULT), expected, "{}", shape.name);
    }
}

#[test]
fn interfaces_that_are_not_for_pods_lower_the_number_of_pods() {
    let with = |interfaces: &[NetworkInterface]| NodeClassSettings {
        network_interfaces: interfaces.to_vec(),
        ..NodeClassSettings::default()
    };
    let plain = NodeClassSettings::default();
    for (name, settings, reserved, expected) in [
        ("m5.large", &plain, 0, 29),
        ("m5.large", &plain, 1, 20),
        ("m5.large", &plain, 2, 11),
        ("m5.large", &plain, 3, 0),
        ("m5.large", &plain, 99, 0),
        ("p4d.24xlarge", &plain, 0, 737),
        ("p4d.24xlarge", &with(&[PLAIN, EFA_ONLY]), 0, 688),
        ("p4d.24xlarge", &with(&[PLAIN, NetworkInterface { card: 1, ..EFA_ONLY }]), 0, 737),
    ] {
        let got = interface_limited_pods(of(name), settings, reserved);
        assert_eq!(got, expected, "{name}, {reserved} reserved");
    }
}

#[test]
fn pods_follow_max_pods_then_interfaces_and_never_exceed_pods_per_core() {
    use AmiFamily::{Al2023, Bottlerocket, Custom, Windows2019};
    for (ami_family, max_pods, pods_per_core, expected) in [
        (Al2023, None, 0, 29),
        (Al2023, Some(110), 0, 110),
        (Al2023, Some(0), 0, 0),
        (Al2023, None, 10, 20),
        (Al2023, Some(110), 10, 20),
        (Al2023, Some(5), 10, 5),
        (Bottlerocket, None, 10, 29),
        (Bottlerocket, Some(110), 10, 110),
        (Custom, None, 0, 29),
        (Windows2019, None, 0, 110),
        (Windows2019, None, 4, 8),
    ] {
        let settings = NodeClassSettings {
            kubelet: KubeletSettings { max_pods, pods_per_core, ..KubeletSettings::default() },
            ..family(ami_family)
        };
        let got = pods(of("m5.large"), &settings);
        assert_eq!(got, expected, "{ami_family:?} {max_pods:?} {pods_per_core}");
    }
    let reserved = NodeClassSettings { reserved_interfaces: 1, ..NodeClassSettings::default() };
    assert_eq!(pods(of("m5.large"), &reserved), 20);
}

#[test]
fn reserved_memory_ignores_max_pods_where_the_image_does() {
    let kubelet = KubeletSettings { max_pods: Some(110), ..KubeletSettings::default() };
    for (ami_family, expected) in [
        (AmiFamily::Al2, "574Mi"),
        (AmiFamily::Al2023, "574Mi"),
        (AmiFamily::Custom, "574Mi"),
        (AmiFamily::Bottlerocket, "1465Mi"),
        (AmiFamily::Windows2025, "1465Mi"),
    ] {
        let settings = NodeClassSettings { kubelet: kubelet.clone(), ..family(ami_family) };
        let reserved = kube_reserved(of("m5.large"), &settings);
        assert_eq!(reserved.quantity("memory"), quantity(expected), "{ami_family:?}");
    }
    // The reference reckons with every interface even where some are reserved.
    let settings = NodeClassSettings { reserved_interfaces: 1, ..family(AmiFamily::Al2023) };
    assert_eq!(kube_reserved(of("m5.large"), &settings).quantity("memory"), quantity("574Mi"));
}

#[test]
fn the_node_class_replaces_reserved_amounts_name_by_name() {
    let mut own = ResourceList::new();
    own.insert("cpu", quantity("200m"));
    own.insert("pid", quantity("1000"));
    let settings = kubelet(KubeletSettings { kube_reserved: own, ..KubeletSettings::default() });
    let reserved = kube_reserved(of("m5.large"), &settings);
    let texts: Vec<String> = reserved.iter().map(|(name, n)| format!("{name} {n}")).collect();
    assert_eq!(texts, ["cpu 200m", "ephemeral-storage 1Gi", "memory 574Mi", "pid 1k"]);
}

#[test]
fn eviction_thresholds_are_amounts_or_shares_of_the_computed_capacity() {
    // memory.available, nodefs.available; bytes kept free of 7577Mi and 20Gi.
    for (memory, storage, free_memory, free_storage) in [
        (None, None, 100 << 20, 2 << 30),
        (Some("5%"), None, 397_253_018, 2 << 30),
        (Some("0%"), Some("0"), 0, 0),
        (Some("100%"), Some("100%"), 0, 0),
        (Some("500Mi"), Some("5Gi"), 500 << 20, 5 << 30),
        (Some("0.5%"), Some("33.3333%"), 39_725_302, 7_158_271_669),
    ] {
        let threshold = |text: Option<&str>| text.map(|t| Threshold::parse(t).expect(t));
        let settings = kubelet(KubeletSettings {
            eviction_memory: threshold(memory),
            eviction_storage: threshold(storage),
            ..KubeletSettings::default()
        });
        let free = eviction_threshold(of("m5.large"), &settings);
        assert_eq!(free.quantity("memory").value(), free_memory, "memory {memory:?}");
        assert_eq!(free.quantity("ephemeral-storage").value(), free_storage, "{storage:?}");
    }
}

#[test]
fn thresholds_that_mean_nothing_are_refused_with_the_reason() {
    for text in ["101%", "-1%", "%", "5 %", "1e1%", "5%%"] {
        let error = Threshold::parse(text).expect_err(text);
        assert!(matches!(error, ThresholdError::Percentage { .. }), "{text}: {error}");
    }
    assert!(matches!(Threshold::parse("-1Gi"), Err(ThresholdError::Negative { .. })));
    assert!(matches!(Threshold::parse("lots"), Err(ThresholdError::Quantity { .. })));
    assert!(matches!(Share::parse_ratio("0.0000001"), Err(ShareError::TooFine { .. })));
    assert!(matches!(Share::parse_ratio("1.000001"), Err(ShareError::AboveWhole { .. })));
    assert!(matches!(Share::parse_ratio("99999999999"), Err(ShareError::AboveWhole { .. })));
    assert_eq!(Share::parse_ratio("0.0750000000"), Ok(VM_MEMORY_OVERHEAD_DEFAULT));
    assert_eq!(VM_MEMORY_OVERHEAD_DEFAULT.to_string(), "0.075");
}

fn device(name: &str, is_root: bool, size: Option<&str>) -> BlockDevice {
    BlockDevice { name: name.to_owned(), is_root, size: size.map(quantity) }
}

#[test]
fn scratch_storage_is_the_first_volume_that_is_surely_meant() {
    use AmiFamily::{Al2, Al2023, Bottlerocket, Custom, Windows2022};
    let named = device("/dev/xvda", false, Some("100Gi"));
    let data = device("/dev/xvdb", false, Some("200Gi"));
    let root = device("/dev/other", true, Some("300Gi"));
    let unsized_root = device("/dev/other", true, None);
    for (ami_family, devices, expected) in [
        (Al2023, vec![], "20Gi"),
        (Bottlerocket, vec![], "20Gi"),
        (Windows2022, vec![], "50Gi"),
        (Custom, vec![], "20Gi"),
        (Al2, vec![named.clone()], "100Gi"),
        (Al2023, vec![data.clone(), named.clone()], "100Gi"),
        (Al2023, vec![data.clone()], "20Gi"),
        (Al2023, vec![named.clone(), root.clone()], "300Gi"),
        (Al2023, vec![named.clone(), unsized_root.clone()], "100Gi"),
        (Bottlerocket, vec![named.clone(), data.clone()], "200Gi"),
        (Bottlerocket, vec![named.clone()], "20Gi"),
        (Windows2022, vec![named.clone()], "50Gi"),
        (Custom, vec![named.clone(), data.clone()], "200Gi"),
        (Custom, vec![data, named], "100Gi"),
        (Custom, vec![root, unsized_root.clone()], "300Gi"),
        (Custom, vec![unsized_root], "20Gi"),
    ] {
        let settings = NodeClassSettings { block_devices: devices, ..family(ami_family) };
        let got = ephemeral_storage(of("m5.large"), &settings);
        assert_eq!(got, quantity(expected), "{ami_family:?} {:?}", settings.block_devices);
        // Striped disks come before every volume, where there are disks.
        let striped = NodeClassSettings { instance_store: InstanceStore::Raid0, ..settings };
        assert_eq!(ephemeral_storage(of("m5.large"), &striped), quantity(expected));
        assert_eq!(ephemeral_storage(of("m5d.large"), &striped), quantity("75G"));
    }
}

#[test]
fn a_type_is_compatible_unless_the_node_class_asks_for_what_it_lacks() {
    let plain = NodeClassSettings::default();
    let with = |interfaces: &[NetworkInterface]| NodeClassSettings {
        network_interfaces: interfaces.to_vec(),
        ..NodeClassSettings::default()
    };
    let group = |strategy| NodeClassSettings {
        placement_group: Some(PlacementGroup { id: "pg-1".to_owned(), strategy, partitions: 0 }),
        ..NodeClassSettings::default()
    };
    let nested = NodeClassSettings { nested_virtualization: true, ..plain.clone() };
    let tracking = NodeClassSettings { connection_tracking: true, ..plain.clone() };
    let second_card = NetworkInterface { card: 1, device: 0, is_efa_only: false };
    let fourth_place = NetworkInterface { card: 0, device: 3, is_efa_only: false };
    use Incompatibility as No;
    for (name, settings, expected) in [
        ("m5.large", &plain, None),
        ("a1.large", &plain, Some(No::A1OnAl2023)),
        ("a1.large", &family(AmiFamily::Bottlerocket), None),
        ("t2.micro", &with(&[PLAIN]), Some(No::NoEna)),
        ("m5.large", &with(&[PLAIN]), None),
        ("m5.large", &with(&[second_card]), Some(No::NoSuchCard { card: 1, cards: 1 })),
        (
            "m5.large",
            &with(&[fourth_place]),
            Some(No::NoSuchDevice { card: 0, device: 3, places: 3 }),
        ),
        ("m5.large", &with(&[EFA_ONLY]), Some(No::TooManyEfa { wanted: 1, most: 0 })),
        ("p4d.24xlarge", &with(&[PLAIN, EFA_ONLY, second_card]), None),
        ("m5.large", &nested, Some(No::NoNestedVirtualization)),
        ("c8i.large", &nested, None),
        ("t3.micro", &group(PlacementStrategy::Cluster), Some(No::PlacementStrategy)),
        ("t3.micro", &group(PlacementStrategy::Spread), None),
        ("m5.large", &tracking, None),
        ("t2.micro", &tracking, Some(No::ConnectionTrackingNeedsNitro)),
        ("m5.metal", &tracking, Some(No::ConnectionTrackingNeedsNitro)),
    ] {
        assert_eq!(incompatibility(of(name), settings), expected, "{name}");
    }
}
