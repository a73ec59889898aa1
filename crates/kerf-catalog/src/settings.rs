//! What a node class says that changes what its instances can hold.

use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

use crate::ami_family::AmiFamily;
use crate::shape::PlacementStrategy;
use crate::share::Share;
use crate::threshold::Threshold;

/// The share of an instance's memory that never reaches the operating system unless measured
/// otherwise: the reference's default of `--vm-memory-overhead-percent`, 0.075.
pub const VM_MEMORY_OVERHEAD_DEFAULT: Share = Share::from_ppm(75_000);

/// A node class and the controller's settings, as far as they matter here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeClassSettings {
    /// The family of the machine image.
    pub ami_family: AmiFamily,
    /// How the kubelet is set up.
    pub kubelet: KubeletSettings,
    /// The volumes, in the order of the node class.
    pub block_devices: Vec<BlockDevice>,
    /// What becomes of the disks inside the instance.
    pub instance_store: InstanceStore,
    /// The network interfaces; none means the usual one.
    pub network_interfaces: Vec<NetworkInterface>,
    /// The group the instances are placed in.
    pub placement_group: Option<PlacementGroup>,
    /// Whether instances must be able to run virtual machines themselves.
    pub nested_virtualization: bool,
    /// Whether timeouts of connection tracking are set.
    pub connection_tracking: bool,
    /// The share of memory taken by the hypervisor.
    pub vm_memory_overhead: Share,
    /// Network interfaces that are not for pods.
    pub reserved_interfaces: u32,
}

/// The kubelet's settings. `evictionSoft` is missing on purpose: it never changes what pods can
/// use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeletSettings {
    /// How many pods a node may hold, in place of the family's own figure.
    pub max_pods: Option<u32>,
    /// How many pods a node may hold for each of its cores; zero means no such limit.
    pub pods_per_core: u32,
    /// What is kept for the kubelet; each name replaces the computed amount.
    pub kube_reserved: ResourceList,
    /// What is kept for the operating system.
    pub system_reserved: ResourceList,
    /// `evictionHard` of `memory.available`.
    pub eviction_memory: Option<Threshold>,
    /// `evictionHard` of `nodefs.available`.
    pub eviction_storage: Option<Threshold>,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// The device name.
    pub name: String,
    /// Whether the node class calls it the root volume.
    pub is_root: bool,
    /// Its size, where the node class gives one.
    pub size: Option<Quantity>,
}

/// What becomes of the disks inside an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstanceStore {
    /// Nothing: whoever wants them mounts them.
    #[default]
    Unused,
    /// Striped together, they hold pods' scratch storage.
    Raid0,
}

/// A network interface a node class asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkInterface {
    /// On which network card.
    pub card: u32,
    /// Which place on that card.
    pub device: u32,
    /// Whether it carries fabric traffic only, without addresses.
    pub is_efa_only: bool,
}

/// The group instances are placed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementGroup {
    /// EC2's name for it.
    pub id: String,
    /// How it places instances.
    pub strategy: PlacementStrategy,
    /// How many partitions it has; zero unless the strategy is partition.
    pub partitions: u32,
}

impl Default for NodeClassSettings {
    fn default() -> Self {
        Self {
            ami_family: AmiFamily::default(),
            kubelet: KubeletSettings::default(),
            block_devices: Vec::new(),
            instance_store: InstanceStore::default(),
            network_interfaces: Vec::new(),
            placement_group: None,
            nested_virtualization: false,
            connection_tracking: false,
            vm_memory_overhead: VM_MEMORY_OVERHEAD_DEFAULT,
            reserved_interfaces: 0,
        }
    }
}

impl NodeClassSettings {
    /// How many interfaces carry fabric traffic only.
    pub(crate) fn efa_only_interfaces(&self) -> u32 {
        count(self.network_interfaces.iter().filter(|nic| nic.is_efa_only))
    }

    /// How many of them sit on the first card and so take a place from pods.
    pub(crate) fn efa_only_interfaces_on_first_card(&self) -> u32 {
        count(self.network_interfaces.iter().filter(|nic| nic.is_efa_only && nic.card == 0))
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}
