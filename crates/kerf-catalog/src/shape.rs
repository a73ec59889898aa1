//! What an instance has, whatever it is used for.

use kerf_model::labels::well_known;

/// One instance type as EC2 describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// EC2's name for it: `m5.large`.
    pub name: String,
    /// The processor's architecture.
    pub architecture: Architecture,
    /// Virtual processors.
    pub vcpus: u32,
    /// Memory before anything is taken away.
    pub memory_mib: u64,
    /// Who makes the processor: `Intel`.
    pub cpu_maker: String,
    /// The clock speed it sustains; zero where EC2 does not say.
    pub clock_mhz: u32,
    /// What runs the instance; `None` on bare metal.
    pub hypervisor: Option<Hypervisor>,
    /// How it can be bought.
    pub usage: Usage,
    /// Whether instances can seal off a part of themselves.
    pub has_enclaves: bool,
    /// Whether instances can run virtual machines themselves.
    pub has_nested_virtualization: bool,
    /// The kinds of placement groups it can be in.
    pub placement: Vec<PlacementStrategy>,
    /// Bandwidth to volumes, where it is there without being asked for.
    pub ebs_mbps: Option<u32>,
    /// The disks inside the instance.
    pub instance_storage: Option<InstanceStorage>,
    /// The network side.
    pub network: Network,
    /// The GPUs, one entry a kind.
    pub gpus: Vec<Gpu>,
    /// AWS's own accelerators, one entry a kind.
    pub neurons: Vec<Neuron>,
    /// Inference accelerators, one entry a kind; AWS's own may be listed here too.
    pub accelerators: Vec<Accelerator>,
}

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Architecture {
    /// x86-64.
    Amd64,
    /// 64-bit Arm.
    Arm64,
}

/// What runs a virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hypervisor {
    /// AWS's own.
    Nitro,
    /// Xen, on older types.
    Xen,
}

/// How a type can be bought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// By the second.
    pub on_demand: bool,
    /// Interruptible.
    pub spot: bool,
    /// Reserved for a stretch of time.
    pub capacity_block: bool,
}

/// How a placement group places instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlacementStrategy {
    /// Close together.
    Cluster,
    /// In partitions that share no hardware.
    Partition,
    /// Each on hardware of its own.
    Spread,
}

/// The disks inside an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceStorage {
    /// All of them together, in decimal gigabytes.
    pub total_gb: u64,
    /// Whether they are NVMe disks.
    pub is_nvme: bool,
}

/// The network side of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Addresses an interface can carry, its own included.
    pub ipv4_per_interface: u32,
    /// Interfaces each network card can carry, by card number.
    pub interfaces_by_card: Vec<u32>,
    /// Which card is used unless another is asked for. Always one of the cards above.
    pub default_card: usize,
    /// Fabric adapters, where there can be any.
    pub efa_interfaces: Option<u32>,
    /// Whether enhanced networking is there.
    pub has_ena: bool,
    /// Whether traffic between instances is encrypted.
    pub encrypts_in_transit: bool,
    /// What EC2 does not say and the built-in tables do.
    pub facts: NetworkFacts,
}

/// Facts about a type's network that no EC2 call gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkFacts {
    /// Bandwidth that is always there, not the burst, where it is known.
    pub bandwidth_mbps: Option<u32>,
    /// Limits of the VPC, where they are known.
    pub limits: Option<VpcLimits>,
}

/// Limits of the VPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VpcLimits {
    /// Addresses an interface can carry, its own included.
    pub ipv4_per_interface: u32,
    /// Branch interfaces; zero where trunking is not possible.
    pub branch_interfaces: u32,
}

/// Some GPUs of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Who makes them: `NVIDIA`.
    pub maker: String,
    /// Their name: `T4`.
    pub name: String,
    /// How many.
    pub count: u32,
    /// The memory of one.
    pub memory_mib: u64,
}

/// Some accelerators of one of AWS's own kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neuron {
    /// Their name: `Inferentia`.
    pub name: String,
    /// How many.
    pub count: u32,
    /// Cores in each.
    pub cores: u32,
}

/// Some inference accelerators of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accelerator {
    /// Who makes them.
    pub maker: String,
    /// Their name.
    pub name: String,
    /// How many.
    pub count: u32,
}

impl Architecture {
    /// The word Kubernetes has for it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Architecture::Amd64 => well_known::ARCH_AMD64,
            Architecture::Arm64 => well_known::ARCH_ARM64,
        }
    }
}

impl Shape {
    /// Interfaces the default network card can carry: those that pods' addresses can be on.
    pub(crate) fn default_interfaces(&self) -> u32 {
        self.network.interfaces_by_card.get(self.network.default_card).copied().unwrap_or(0)
    }

    /// Whether it has anything that computes beside the processor.
    #[must_use]
    pub fn is_accelerated(&self) -> bool {
        !(self.gpus.is_empty() && self.neurons.is_empty() && self.accelerators.is_empty())
    }
}
