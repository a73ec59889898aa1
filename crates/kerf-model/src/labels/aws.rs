//! Labels and annotations of instances on AWS.

use super::{ProviderLabels, well_known};

/// The domain of AWS labels; only those below may be used.
pub const DOMAIN: &str = "karpenter.k8s.aws";

/// Id of the zone, the same for every account.
pub const ZONE_ID: &str = "topology.k8s.aws/zone-id";
/// Letters before the generation: `c`, `m`, `u`.
pub const INSTANCE_CATEGORY: &str = "karpenter.k8s.aws/instance-category";
/// Generation number.
pub const INSTANCE_GENERATION: &str = "karpenter.k8s.aws/instance-generation";
/// Text before the dot: `m5dn`.
pub const INSTANCE_FAMILY: &str = "karpenter.k8s.aws/instance-family";
/// Text after the dot: `2xlarge`.
pub const INSTANCE_SIZE: &str = "karpenter.k8s.aws/instance-size";
/// Whether the family is a `-flex` one.
pub const INSTANCE_CAPABILITY_FLEX: &str = "karpenter.k8s.aws/instance-capability-flex";
/// Count of virtual processors.
pub const INSTANCE_CPU: &str = "karpenter.k8s.aws/instance-cpu";
/// Maker of the processor: `aws`, `intel`, `amd`.
pub const INSTANCE_CPU_MANUFACTURER: &str = "karpenter.k8s.aws/instance-cpu-manufacturer";
/// Sustained clock speed in MHz.
pub const INSTANCE_CPU_SUSTAINED_CLOCK_SPEED_MHZ: &str =
    "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz";
/// Memory in MiB, overhead not removed.
pub const INSTANCE_MEMORY: &str = "karpenter.k8s.aws/instance-memory";
/// EBS bandwidth in Mb/s.
pub const INSTANCE_EBS_BANDWIDTH: &str = "karpenter.k8s.aws/instance-ebs-bandwidth";
/// Baseline network bandwidth in Mb/s.
pub const INSTANCE_NETWORK_BANDWIDTH: &str = "karpenter.k8s.aws/instance-network-bandwidth";
/// Local NVMe storage in GB.
pub const INSTANCE_LOCAL_NVME: &str = "karpenter.k8s.aws/instance-local-nvme";
/// Hypervisor: `nitro`, `xen`, empty on bare metal.
pub const INSTANCE_HYPERVISOR: &str = "karpenter.k8s.aws/instance-hypervisor";
/// Whether traffic between instances is encrypted.
pub const INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED: &str =
    "karpenter.k8s.aws/instance-encryption-in-transit-supported";
/// Whether enclaves can be started.
pub const NITRO_SANDBOX: &str = "karpenter.k8s.aws/nitro-sandbox";
/// Name of the GPU.
pub const INSTANCE_GPU_NAME: &str = "karpenter.k8s.aws/instance-gpu-name";
/// Maker of the GPU.
pub const INSTANCE_GPU_MANUFACTURER: &str = "karpenter.k8s.aws/instance-gpu-manufacturer";
/// Count of GPUs.
pub const INSTANCE_GPU_COUNT: &str = "karpenter.k8s.aws/instance-gpu-count";
/// Memory of one GPU in MiB.
pub const INSTANCE_GPU_MEMORY: &str = "karpenter.k8s.aws/instance-gpu-memory";
/// Name of the accelerator.
pub const INSTANCE_ACCELERATOR_NAME: &str = "karpenter.k8s.aws/instance-accelerator-name";
/// Maker of the accelerator.
pub const INSTANCE_ACCELERATOR_MANUFACTURER: &str =
    "karpenter.k8s.aws/instance-accelerator-manufacturer";
/// Count of accelerators.
pub const INSTANCE_ACCELERATOR_COUNT: &str = "karpenter.k8s.aws/instance-accelerator-count";
/// `default` or `dedicated`.
pub const INSTANCE_TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";
/// Id of the capacity reservation a reserved instance runs in.
pub const CAPACITY_RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
/// Kind of that capacity reservation.
pub const CAPACITY_RESERVATION_TYPE: &str = "karpenter.k8s.aws/capacity-reservation-type";
/// Whether instances in that capacity reservation can be interrupted.
pub const CAPACITY_RESERVATION_INTERRUPTIBLE: &str =
    "karpenter.k8s.aws/capacity-reservation-interruptible";
/// Id of the placement group.
pub const PLACEMENT_GROUP_ID: &str = "karpenter.k8s.aws/placement-group-id";
/// Partition within the placement group.
pub const PLACEMENT_GROUP_PARTITION: &str = "karpenter.k8s.aws/placement-group-partition";
/// Name of the node class; set by the core, usable in selectors.
pub const NODE_CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";

/// The zone label that the EBS volume driver writes.
pub const EBS_CSI_ZONE: &str = "topology.ebs.csi.aws.com/zone";

/// On a claim: its instance carries its final tags.
pub const TAGGED_ANNOTATION: &str = "karpenter.k8s.aws/tagged";
/// On a claim: its instance carries the cluster name tag.
pub const CLUSTER_NAME_TAGGED_ANNOTATION: &str =
    "compatibility.karpenter.k8s.aws/cluster-name-tagged";

/// Values of [`INSTANCE_TENANCY`].
pub const TENANCIES: [&str; 2] = ["default", "dedicated"];

/// Labels of AWS instance types that requirements may use.
pub const WELL_KNOWN: [&str; 31] = [
    ZONE_ID,
    INSTANCE_CATEGORY,
    INSTANCE_GENERATION,
    INSTANCE_FAMILY,
    INSTANCE_SIZE,
    INSTANCE_CAPABILITY_FLEX,
    INSTANCE_CPU,
    INSTANCE_CPU_MANUFACTURER,
    INSTANCE_CPU_SUSTAINED_CLOCK_SPEED_MHZ,
    INSTANCE_MEMORY,
    INSTANCE_EBS_BANDWIDTH,
    INSTANCE_NETWORK_BANDWIDTH,
    INSTANCE_LOCAL_NVME,
    INSTANCE_HYPERVISOR,
    INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED,
    NITRO_SANDBOX,
    INSTANCE_GPU_NAME,
    INSTANCE_GPU_MANUFACTURER,
    INSTANCE_GPU_COUNT,
    INSTANCE_GPU_MEMORY,
    INSTANCE_ACCELERATOR_NAME,
    INSTANCE_ACCELERATOR_MANUFACTURER,
    INSTANCE_ACCELERATOR_COUNT,
    INSTANCE_TENANCY,
    CAPACITY_RESERVATION_ID,
    CAPACITY_RESERVATION_TYPE,
    CAPACITY_RESERVATION_INTERRUPTIBLE,
    PLACEMENT_GROUP_ID,
    PLACEMENT_GROUP_PARTITION,
    well_known::REGION,
    well_known::WINDOWS_BUILD,
];

/// What AWS adds to the rules of the core.
#[must_use]
pub fn provider_labels() -> ProviderLabels {
    ProviderLabels::new()
        .well_known(WELL_KNOWN)
        .restricted_domain(DOMAIN)
        .allowed(NODE_CLASS)
        .alias(EBS_CSI_ZONE, well_known::ZONE)
        .known_values(INSTANCE_TENANCY, TENANCIES)
}
