//! What an instance has once it is a node.

use kerf_model::quantity::{Format, Quantity};
use kerf_model::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, PODS, ResourceList};

use crate::ami_family::AmiFamily;
use crate::resource_name;
use crate::settings::{InstanceStore, NodeClassSettings};
use crate::shape::{Architecture, Shape};
use crate::share::Share;

const MIB: u64 = 1 << 20;
const GIB: i64 = 1 << 30;
/// Memory that Arm instances keep for contiguous allocations, out of everyone's reach.
const ARM_CONTIGUOUS_MIB: u64 = 64;
/// The kubelet's own default for the pods of a node.
const PODS_DEFAULT: u32 = 110;
/// Addresses on a node that pods on the host's network use: `aws-node` and `kube-proxy`.
const HOST_NETWORK_PODS: u32 = 2;
/// A volume whose size nobody gave.
const VOLUME_DEFAULT: Quantity = Quantity::from_bytes(20 * GIB);

/// Everything a node of this shape has. Resources beyond the four of every node are there only
/// where there is some of them; huge pages never are, because an instance has none until its user
/// data sets them aside.
#[must_use]
pub fn capacity(shape: &Shape, settings: &NodeClassSettings) -> ResourceList {
    let mut capacity = ResourceList::new();
    capacity.insert(CPU, count(shape.vcpus));
    capacity.insert(MEMORY, memory(shape, settings.vm_memory_overhead));
    capacity.insert(EPHEMERAL_STORAGE, ephemeral_storage(shape, settings));
    capacity.insert(PODS, count(pods(shape, settings)));
    for (name, amount) in devices(shape, settings) {
        if amount > 0 {
            capacity.insert(name, count(amount));
        }
    }
    capacity
}

/// Memory as the operating system sees it: what the shape says, less what Arm instances keep, less
/// the hypervisor's share, rounded up to a mebibyte.
#[must_use]
pub fn memory(shape: &Shape, vm_overhead: Share) -> Quantity {
    let kept_mib = match shape.architecture {
        Architecture::Arm64 => ARM_CONTIGUOUS_MIB,
        Architecture::Amd64 => 0,
    };
    let mib = shape.memory_mib.saturating_sub(kept_mib);
    let bytes = (mib - vm_overhead.of_rounded_up(mib)).saturating_mul(MIB);
    Quantity::from_bytes(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// Scratch storage for pods: the disks inside the instance if they are striped together, else the
/// volume it lives on.
#[must_use]
pub fn ephemeral_storage(shape: &Shape, settings: &NodeClassSettings) -> Quantity {
    if settings.instance_store == InstanceStore::Raid0
        && let Some(storage) = shape.instance_storage
    {
        let nanos_per_gb = 1_000_000_000_i128 * 1_000_000_000;
        let nanos = i128::from(storage.total_gb) * nanos_per_gb;
        return Quantity::from_nanos(nanos, Format::DecimalSi);
    }
    let devices = &settings.block_devices;
    let root = devices.iter().find(|device| device.is_root).and_then(|device| device.size);
    if let Some(size) = root {
        return size;
    }
    let Some(ephemeral) = settings.ami_family.ephemeral_device() else {
        // Nobody knows which volume a custom image uses; the last one is the reference's guess.
        return devices.last().and_then(|device| device.size).unwrap_or(VOLUME_DEFAULT);
    };
    let same = devices.iter().find(|device| device.name == ephemeral.name);
    same.and_then(|device| device.size).unwrap_or(ephemeral.default_size)
}

/// How many pods a node may hold.
#[must_use]
pub fn pods(shape: &Shape, settings: &NodeClassSettings) -> u32 {
    let kubelet = &settings.kubelet;
    let family = settings.ami_family;
    let most = match kubelet.max_pods {
        Some(max_pods) => max_pods,
        None if family.limits_pods_by_interfaces() => {
            interface_limited_pods(shape, settings, settings.reserved_interfaces)
        }
        None => PODS_DEFAULT,
    };
    if kubelet.pods_per_core > 0 && family.honours_pods_per_core() {
        most.min(kubelet.pods_per_core.saturating_mul(shape.vcpus))
    } else {
        most
    }
}

/// How many pods the addresses of the default network card allow: each interface keeps one
/// address for itself, and pods on the host's network need none. Prefixes are not counted; who
/// uses them sets `maxPods`.
#[must_use]
pub fn interface_limited_pods(
    shape: &Shape,
    settings: &NodeClassSettings,
    reserved_interfaces: u32,
) -> u32 {
    let taken = reserved_interfaces.saturating_add(settings.efa_only_interfaces_on_first_card());
    let interfaces = shape.default_interfaces().saturating_sub(taken);
    if interfaces == 0 {
        return 0;
    }
    let addresses = shape.network.ipv4_per_interface.saturating_sub(1);
    interfaces.saturating_mul(addresses).saturating_add(HOST_NETWORK_PODS)
}

/// Devices by resource name; zero where there are none.
fn devices(shape: &Shape, settings: &NodeClassSettings) -> [(&'static str, u32); 8] {
    let cores = shape.neurons.first().map_or(0, |kind| kind.count.saturating_mul(kind.cores));
    [
        (resource_name::NVIDIA_GPU, gpus_of(shape, "NVIDIA")),
        (resource_name::AMD_GPU, gpus_of(shape, "AMD")),
        (resource_name::GAUDI, gpus_of(shape, "Habana")),
        (resource_name::NEURON, sum(shape.neurons.iter().map(|kind| kind.count))),
        (resource_name::NEURON_CORE, cores),
        (resource_name::POD_ENI, shape.network.facts.limits.map_or(0, |l| l.branch_interfaces)),
        (resource_name::EFA, efa_interfaces(shape, settings)),
        (resource_name::PRIVATE_IPV4_ADDRESS, private_addresses(shape, settings.ami_family)),
    ]
}

fn gpus_of(shape: &Shape, maker: &str) -> u32 {
    sum(shape.gpus.iter().filter(|gpu| gpu.maker == maker).map(|gpu| gpu.count))
}

/// What the node class asks for, else all the instance can have.
fn efa_interfaces(shape: &Shape, settings: &NodeClassSettings) -> u32 {
    if settings.network_interfaces.is_empty() {
        shape.network.efa_interfaces.unwrap_or(0)
    } else {
        settings.efa_only_interfaces()
    }
}

/// Addresses for pods on Windows, which runs on x86-64 alone.
fn private_addresses(shape: &Shape, family: AmiFamily) -> u32 {
    if !family.is_windows() || shape.architecture != Architecture::Amd64 {
        return 0;
    }
    shape.network.facts.limits.map_or(0, |limits| limits.ipv4_per_interface.saturating_sub(1))
}

fn sum(counts: impl Iterator<Item = u32>) -> u32 {
    counts.fold(0, u32::saturating_add)
}

fn count(amount: u32) -> Quantity {
    Quantity::from_int(i64::from(amount))
}
