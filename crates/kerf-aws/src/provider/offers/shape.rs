//! EC2's description of an instance type as the catalogue's arithmetic takes it.

use aws_sdk_ec2::types::{
    ArchitectureType, EbsOptimizedSupport, EnaSupport, EphemeralNvmeSupport,
    InstanceTypeHypervisor, InstanceTypeInfo, NetworkInfo, NitroEnclavesSupport,
    PlacementGroupStrategy, SupportedAdditionalProcessorFeature, UsageClassType,
};
use kerf_catalog::shape::{
    Accelerator, Architecture, Gpu, Hypervisor, InstanceStorage, Network, Neuron,
    PlacementStrategy, Shape, Usage,
};
use kerf_catalog::table::network_facts;

/// What an instance of the type has; none for a processor that no image runs on.
pub(super) fn shape(info: &InstanceTypeInfo) -> Option<Shape> {
    let name = info.instance_type()?.as_str();
    let processor = info.processor_info()?;
    let architecture = processor.supported_architectures().iter().find_map(architecture)?;
    let clock = processor.sustained_clock_speed_in_ghz().unwrap_or(0.0);
    let features = processor.supported_features();
    let placement = info.placement_group_info();
    Some(Shape {
        name: name.to_owned(),
        architecture,
        vcpus: count(info.v_cpu_info()?.default_v_cpus()),
        memory_mib: u64::try_from(info.memory_info()?.size_in_mib()?).ok()?,
        cpu_maker: text(processor.manufacturer()),
        clock_mhz: mhz(clock),
        hypervisor: info.hypervisor().and_then(hypervisor),
        usage: usage(info.supported_usage_classes()),
        has_enclaves: info.nitro_enclaves_support() == Some(&NitroEnclavesSupport::Supported),
        has_nested_virtualization: features
            .contains(&SupportedAdditionalProcessorFeature::NestedVirtualization),
        placement: placement
            .map(|info| info.supported_strategies().iter().filter_map(strategy).collect())
            .unwrap_or_default(),
        ebs_mbps: ebs_mbps(info),
        instance_storage: instance_storage(info),
        network: network(name, info.network_info()?)?,
        gpus: gpus(info),
        neurons: neurons(info),
        accelerators: accelerators(info),
    })
}

/// Thousandths are all that EC2 tells of a clock; what is out of range is no clock.
fn mhz(ghz: f64) -> u32 {
    format!("{:.0}", ghz * 1000.0).parse().unwrap_or(0)
}

fn architecture(of_ec2: &ArchitectureType) -> Option<Architecture> {
    match of_ec2 {
        ArchitectureType::X8664 => Some(Architecture::Amd64),
        ArchitectureType::Arm64 => Some(Architecture::Arm64),
        _ => None,
    }
}

fn hypervisor(of_ec2: &InstanceTypeHypervisor) -> Option<Hypervisor> {
    match of_ec2 {
        InstanceTypeHypervisor::Nitro => Some(Hypervisor::Nitro),
        InstanceTypeHypervisor::Xen => Some(Hypervisor::Xen),
        _ => None,
    }
}

fn usage(classes: &[UsageClassType]) -> Usage {
    Usage {
        on_demand: classes.contains(&UsageClassType::OnDemand),
        spot: classes.contains(&UsageClassType::Spot),
        capacity_block: classes.contains(&UsageClassType::CapacityBlock),
    }
}

fn strategy(of_ec2: &PlacementGroupStrategy) -> Option<PlacementStrategy> {
    match of_ec2 {
        PlacementGroupStrategy::Cluster => Some(PlacementStrategy::Cluster),
        PlacementGroupStrategy::Partition => Some(PlacementStrategy::Partition),
        PlacementGroupStrategy::Spread => Some(PlacementStrategy::Spread),
        _ => None,
    }
}

/// Bandwidth counts where it is there without being asked for.
fn ebs_mbps(info: &InstanceTypeInfo) -> Option<u32> {
    let ebs = info.ebs_info()?;
    if ebs.ebs_optimized_support() != Some(&EbsOptimizedSupport::Default) {
        return None;
    }
    u32::try_from(ebs.ebs_optimized_info()?.maximum_bandwidth_in_mbps()?).ok()
}

fn instance_storage(info: &InstanceTypeInfo) -> Option<InstanceStorage> {
    let storage = info.instance_storage_info()?;
    Some(InstanceStorage {
        total_gb: u64::try_from(storage.total_size_in_gb()?).ok()?,
        is_nvme: storage.nvme_support().is_some_and(|it| *it != EphemeralNvmeSupport::Unsupported),
    })
}

/// The network, with what only the built-in tables know of it. A type whose cards are not told has
/// one.
fn network(name: &str, info: &NetworkInfo) -> Option<Network> {
    let mut cards: Vec<_> = info.network_cards().iter().collect();
    cards.sort_by_key(|card| card.network_card_index());
    let mut interfaces_by_card: Vec<u32> =
        cards.iter().map(|card| count(card.maximum_network_interfaces())).collect();
    if interfaces_by_card.is_empty() {
        interfaces_by_card.push(count(info.maximum_network_interfaces()));
    }
    let default_card = usize::try_from(info.default_network_card_index().unwrap_or(0)).ok()?;
    let is_efa = info.efa_supported() == Some(true);
    let has_ena = info.ena_support().is_some_and(|ena| *ena != EnaSupport::Unsupported);
    Some(Network {
        ipv4_per_interface: count(info.ipv4_addresses_per_interface()),
        default_card: if default_card < interfaces_by_card.len() { default_card } else { 0 },
        interfaces_by_card,
        efa_interfaces: is_efa
            .then(|| count(info.efa_info().and_then(|efa| efa.maximum_efa_interfaces()))),
        has_ena,
        encrypts_in_transit: info.encryption_in_transit_supported() == Some(true),
        facts: network_facts(name),
    })
}

fn gpus(info: &InstanceTypeInfo) -> Vec<Gpu> {
    let gpus = info.gpu_info().map(|info| info.gpus()).unwrap_or_default().iter();
    gpus.map(|gpu| Gpu {
        maker: text(gpu.manufacturer()),
        name: text(gpu.name()),
        count: count(gpu.count()),
        memory_mib: gpu.memory_info().map_or(0, |memory| count(memory.size_in_mib()).into()),
    })
    .collect()
}

fn neurons(info: &InstanceTypeInfo) -> Vec<Neuron> {
    let devices = info.neuron_info().map(|info| info.neuron_devices()).unwrap_or_default().iter();
    devices
        .map(|device| Neuron {
            name: text(device.name()),
            count: count(device.count()),
            cores: device.core_info().map_or(0, |cores| count(cores.count())),
        })
        .collect()
}

fn accelerators(info: &InstanceTypeInfo) -> Vec<Accelerator> {
    let devices = info.inference_accelerator_info().map(|info| info.accelerators());
    let devices = devices.unwrap_or_default().iter();
    devices
        .map(|device| Accelerator {
            maker: text(device.manufacturer()),
            name: text(device.name()),
            count: count(device.count()),
        })
        .collect()
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

fn count(count: Option<i32>) -> u32 {
    count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::{
        EbsInfo, EbsOptimizedInfo, EfaInfo, InstanceStorageInfo, InstanceType as Ec2Type,
        MemoryInfo, NetworkCardInfo, PlacementGroupInfo, ProcessorInfo, VCpuInfo,
    };
    use kerf_catalog::table;

    use super::*;

    /// What EC2 says of m5.large.
    fn m5_large() -> InstanceTypeInfo {
        let card = NetworkCardInfo::builder().network_card_index(0).maximum_network_interfaces(3);
        let ebs = EbsOptimizedInfo::builder().maximum_bandwidth_in_mbps(4750).build();
        InstanceTypeInfo::builder()
            .instance_type(Ec2Type::from("m5.large"))
            .hypervisor(InstanceTypeHypervisor::Nitro)
            .supported_usage_classes(UsageClassType::OnDemand)
            .supported_usage_classes(UsageClassType::Spot)
            .nitro_enclaves_support(NitroEnclavesSupport::Unsupported)
            .processor_info(
                ProcessorInfo::builder()
                    .supported_architectures(ArchitectureType::X8664)
                    .sustained_clock_speed_in_ghz(3.1)
                    .manufacturer("Intel")
                    .build(),
            )
            .v_cpu_info(VCpuInfo::builder().default_v_cpus(2).build())
            .memory_info(MemoryInfo::builder().size_in_mib(8192).build())
            .ebs_info(
                EbsInfo::builder()
                    .ebs_optimized_support(EbsOptimizedSupport::Default)
                    .ebs_optimized_info(ebs)
                    .build(),
            )
            .network_info(
                NetworkInfo::builder()
                    .ipv4_addresses_per_interface(10)
                    .default_network_card_index(0)
                    .network_cards(card.build())
                    .ena_support(EnaSupport::Required)
                    .efa_supported(false)
                    .encryption_in_transit_supported(false)
                    .build(),
            )
            .placement_group_info(
                PlacementGroupInfo::builder()
                    .supported_strategies(PlacementGroupStrategy::Cluster)
                    .supported_strategies(PlacementGroupStrategy::Partition)
                    .supported_strategies(PlacementGroupStrategy::Spread)
                    .build(),
            )
            .build()
    }

    #[test]
    fn what_ec2_says_of_a_type_is_what_the_tables_say() {
        let told = shape(&m5_large()).expect("it has a known processor");
        assert_eq!(Some(&told), table::shape("m5.large"));
    }

    #[test]
    fn a_fabric_adapter_counts_where_it_is_supported_at_all() {
        let efa = EfaInfo::builder().maximum_efa_interfaces(4).build();
        let network = |supported| {
            let info = NetworkInfo::builder().efa_supported(supported).efa_info(efa.clone());
            super::network("x1.large", &info.build()).expect("the default card is the first")
        };
        assert_eq!(network(true).efa_interfaces, Some(4));
        assert_eq!(network(false).efa_interfaces, None);
    }

    #[test]
    fn disks_that_are_no_nvme_and_processors_of_desktops_are_told_apart() {
        let storage = InstanceStorageInfo::builder()
            .total_size_in_gb(80)
            .nvme_support(EphemeralNvmeSupport::Unsupported)
            .build();
        let mut info = m5_large();
        info.instance_storage_info = Some(storage);
        let disks = shape(&info).and_then(|shape| shape.instance_storage);
        assert_eq!(disks, Some(InstanceStorage { total_gb: 80, is_nvme: false }));
        let mac = ProcessorInfo::builder().supported_architectures(ArchitectureType::Arm64Mac);
        info.processor_info = Some(mac.build());
        assert_eq!(shape(&info), None);
    }
}
