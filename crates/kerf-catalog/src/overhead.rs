//! What of a node is kept from pods.

use kerf_model::instance_type::Overhead;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, ResourceList};

use crate::capacity::{ephemeral_storage, interface_limited_pods, memory, pods};
use crate::settings::NodeClassSettings;
use crate::shape::Shape;
use crate::share::Share;
use crate::threshold::Threshold;

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;
/// Memory the kubelet and the container runtime need for themselves and for each pod, as EKS
/// images reserve it.
const RESERVED_BASE_MIB: i64 = 255;
const RESERVED_POD_MIB: i64 = 11;
/// Scratch storage kept for logs and images.
const RESERVED_STORAGE: Quantity = Quantity::from_bytes(GIB);
/// The kubelet's default for `memory.available` and `nodefs.available`.
const EVICTION_MEMORY: Threshold = Threshold::Amount(Quantity::from_bytes(100 * MIB));
const EVICTION_STORAGE: Threshold = Threshold::Share(Share::from_ppm(100_000));

/// Everything kept from pods on a node of this shape.
#[must_use]
pub fn overhead(shape: &Shape, settings: &NodeClassSettings) -> Overhead {
    Overhead {
        kube_reserved: kube_reserved(shape, settings),
        system_reserved: settings.kubelet.system_reserved.clone(),
        eviction_threshold: eviction_threshold(shape, settings),
    }
}

/// What is kept for the kubelet; the node class's own figures come first, name by name.
#[must_use]
pub fn kube_reserved(shape: &Shape, settings: &NodeClassSettings) -> ResourceList {
    let pods = if settings.ami_family.reserves_memory_by_interfaces() {
        // These images reckon with every interface, and with `maxPods` not at all.
        interface_limited_pods(shape, settings, 0)
    } else {
        pods(shape, settings)
    };
    let mut reserved = ResourceList::new();
    reserved.insert(CPU, Quantity::from_milli(kube_reserved_cpu_milli(shape.vcpus)));
    reserved.insert(MEMORY, Quantity::from_bytes(kube_reserved_memory_mib(pods) * MIB));
    reserved.insert(EPHEMERAL_STORAGE, RESERVED_STORAGE);
    for (name, amount) in settings.kubelet.kube_reserved.iter() {
        reserved.insert(name, amount);
    }
    reserved
}

/// Processor time kept for the kubelet: 6 % of the first core, 1 % of the second, 0.5 % of the
/// next two, 0.25 % of all others, each part rounded down to a thousandth of a core.
#[must_use]
pub fn kube_reserved_cpu_milli(vcpus: u32) -> i64 {
    let vcpus = i64::from(vcpus);
    let cores_between = |from: i64, to: i64| vcpus.clamp(from, to) - from;
    60 * cores_between(0, 1)
        + 10 * cores_between(1, 2)
        + 5 * cores_between(2, 4)
        + cores_between(4, i64::MAX) * 5 / 2
}

/// Memory kept for the kubelet of a node that may hold so many pods.
#[must_use]
pub fn kube_reserved_memory_mib(pods: u32) -> i64 {
    RESERVED_POD_MIB * i64::from(pods) + RESERVED_BASE_MIB
}

/// What the kubelet keeps free before it evicts. Percentages are of the computed capacity.
#[must_use]
pub fn eviction_threshold(shape: &Shape, settings: &NodeClassSettings) -> ResourceList {
    let kubelet = &settings.kubelet;
    let memory_threshold = kubelet.eviction_memory.unwrap_or(EVICTION_MEMORY);
    let storage_threshold = kubelet.eviction_storage.unwrap_or(EVICTION_STORAGE);
    let mut threshold = ResourceList::new();
    threshold.insert(MEMORY, memory_threshold.of(memory(shape, settings.vm_memory_overhead)));
    threshold.insert(EPHEMERAL_STORAGE, storage_threshold.of(ephemeral_storage(shape, settings)));
    threshold
}
