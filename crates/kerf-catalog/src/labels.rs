//! The labels an AWS instance of a type may carry, one entry for each.

use kerf_model::labels::{aws, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::ami_family::AmiFamily;
use crate::aws::OwnLabels;
use crate::name::name_parts;
use crate::offerings::ZoneWays;
use crate::settings::{NodeClassSettings, PlacementGroup};
use crate::shape::{Architecture, Hypervisor, Shape};

/// Labels that every cloud has: type, architecture, system, zone, capacity type.
const COMMON_LABELS: usize = 5;
/// How many labels a type has at most. AWS lists the region and the build of Windows as its own.
const LABELS_MAX: usize = aws::WELL_KNOWN.len() + COMMON_LABELS;

/// Entries in the making.
struct Labels<'a> {
    wanted: OwnLabels<'a>,
    entries: Vec<RequirementEntry>,
}

/// The labels of a type that is sold in these zones of a region.
pub(crate) fn requirements(
    shape: &Shape,
    settings: &NodeClassSettings,
    region: &str,
    ways: &[&ZoneWays],
    wanted: OwnLabels<'_>,
) -> Vec<RequirementEntry> {
    let zones = ways.iter().map(|ways| &ways.zone);
    let mut labels = Labels { wanted, entries: Vec::with_capacity(LABELS_MAX) };
    labels.one(well_known::INSTANCE_TYPE, &shape.name);
    labels.one(well_known::ARCH, shape.architecture.label());
    labels.maybe(well_known::OS, operating_system(shape, settings.ami_family));
    labels.any_of(well_known::ZONE, zones.clone().map(|zone| zone.name.as_str()));
    labels.one(well_known::REGION, region);
    labels.maybe(well_known::WINDOWS_BUILD, settings.ami_family.windows_build());
    labels.any_of(well_known::CAPACITY_TYPE, capacity_types(shape));
    if zones.clone().any(|zone| zone.id.is_some()) {
        // Without a subnet nobody can tell the ids: they differ from account to account.
        labels.any_of(aws::ZONE_ID, zones.filter_map(|zone| zone.id.as_deref()));
    }
    labels.name(shape);
    labels.processor(shape);
    labels.bandwidth_and_storage(shape);
    labels.devices(shape);
    labels.any_of(aws::INSTANCE_TENANCY, aws::TENANCIES);
    for key in RESERVATION_LABELS {
        labels.absent(key);
    }
    labels.placement_group(settings.placement_group.as_ref());
    labels.entries
}

/// Labels that only reserved instances carry.
const RESERVATION_LABELS: [&str; 3] = [
    aws::CAPACITY_RESERVATION_ID,
    aws::CAPACITY_RESERVATION_TYPE,
    aws::CAPACITY_RESERVATION_INTERRUPTIBLE,
];

/// How a type can be bought without a reservation, in the order offerings are listed.
pub(crate) fn capacity_types(shape: &Shape) -> impl Iterator<Item = &'static str> {
    let usage = shape.usage;
    let on_demand = usage.on_demand.then_some(well_known::ON_DEMAND);
    on_demand.into_iter().chain(usage.spot.then_some(well_known::SPOT))
}

/// Windows does not run on Arm.
fn operating_system(shape: &Shape, family: AmiFamily) -> Option<&'static str> {
    match (family.is_windows(), shape.architecture) {
        (false, _) => Some(well_known::OS_LINUX),
        (true, Architecture::Amd64) => Some(well_known::OS_WINDOWS),
        (true, Architecture::Arm64) => None,
    }
}

/// The way makers and models are written in labels: `RTX PRO 4500` is `rtx-pro-4500`.
fn lower_kebab(text: &str) -> String {
    text.replace(' ', "-").to_lowercase()
}

impl Labels<'_> {
    fn name(&mut self, shape: &Shape) {
        let parts = name_parts(&shape.name);
        self.maybe(aws::INSTANCE_CATEGORY, parts.category);
        self.maybe(aws::INSTANCE_GENERATION, parts.generation);
        self.maybe(aws::INSTANCE_FAMILY, parts.family);
        self.maybe(aws::INSTANCE_SIZE, parts.size);
        self.flag(aws::INSTANCE_CAPABILITY_FLEX, parts.is_flex);
    }

    fn processor(&mut self, shape: &Shape) {
        self.number(aws::INSTANCE_CPU, Some(shape.vcpus));
        self.word(aws::INSTANCE_CPU_MANUFACTURER, Some(&shape.cpu_maker));
        self.number(aws::INSTANCE_CPU_SUSTAINED_CLOCK_SPEED_MHZ, Some(shape.clock_mhz));
        self.number(aws::INSTANCE_MEMORY, Some(shape.memory_mib));
        let hypervisor = match shape.hypervisor {
            Some(Hypervisor::Nitro) => "nitro",
            Some(Hypervisor::Xen) => "xen",
            None => "",
        };
        self.one(aws::INSTANCE_HYPERVISOR, hypervisor);
        self.flag(aws::NITRO_SANDBOX, shape.has_enclaves);
    }

    fn bandwidth_and_storage(&mut self, shape: &Shape) {
        let network = &shape.network;
        self.number(aws::INSTANCE_EBS_BANDWIDTH, shape.ebs_mbps);
        self.number(aws::INSTANCE_NETWORK_BANDWIDTH, network.facts.bandwidth_mbps);
        let nvme = shape.instance_storage.filter(|storage| storage.is_nvme);
        self.number(aws::INSTANCE_LOCAL_NVME, nvme.map(|nvme| nvme.total_gb));
        let key = aws::INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED;
        self.flag(key, network.encrypts_in_transit);
    }

    /// Labels have room for one kind of device; with several kinds none is named.
    fn devices(&mut self, shape: &Shape) {
        let gpu = only(&shape.gpus);
        self.word(aws::INSTANCE_GPU_NAME, gpu.map(|gpu| &*gpu.name));
        self.word(aws::INSTANCE_GPU_MANUFACTURER, gpu.map(|gpu| &*gpu.maker));
        self.number(aws::INSTANCE_GPU_COUNT, gpu.map(|gpu| gpu.count));
        self.number(aws::INSTANCE_GPU_MEMORY, gpu.map(|gpu| gpu.memory_mib));
        let neuron = only(&shape.neurons).map(|kind| (&*kind.name, "aws", kind.count));
        let other =
            || only(&shape.accelerators).map(|kind| (&*kind.name, &*kind.maker, kind.count));
        let device = if shape.neurons.is_empty() { other() } else { neuron };
        self.word(aws::INSTANCE_ACCELERATOR_NAME, device.map(|(name, _, _)| name));
        self.word(aws::INSTANCE_ACCELERATOR_MANUFACTURER, device.map(|(_, maker, _)| maker));
        self.number(aws::INSTANCE_ACCELERATOR_COUNT, device.map(|(_, _, count)| count));
    }

    fn placement_group(&mut self, group: Option<&PlacementGroup>) {
        self.maybe(aws::PLACEMENT_GROUP_ID, group.map(|group| group.id.as_str()));
        let partitions = group.map_or(0, |group| group.partitions);
        let values = (1..=partitions).map(|number| number.to_string());
        self.any_of(aws::PLACEMENT_GROUP_PARTITION, values);
    }

    fn flag(&mut self, key: &str, is_set: bool) {
        self.one(key, if is_set { "true" } else { "false" });
    }

    fn one(&mut self, key: &str, value: &str) {
        self.any_of(key, [value]);
    }

    fn maybe(&mut self, key: &str, value: Option<&str>) {
        self.any_of(key, value);
    }

    fn number(&mut self, key: &str, value: Option<impl ToString>) {
        self.any_of(key, value.into_iter().map(|number| number.to_string()));
    }

    fn word(&mut self, key: &str, value: Option<&str>) {
        self.any_of(key, value.into_iter().map(lower_kebab));
    }

    fn absent(&mut self, key: &str) {
        self.any_of(key, [""; 0]);
    }

    /// Takes no value and makes no text where the label is not wanted.
    fn any_of(&mut self, key: &str, values: impl IntoIterator<Item = impl Into<String>>) {
        if !self.wanted.include(key) {
            return;
        }
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        let operator = if values.is_empty() { Operator::DoesNotExist } else { Operator::In };
        self.entries.push(RequirementEntry {
            key: key.to_owned(),
            operator,
            values,
            min_values: None,
        });
    }
}

/// The one entry of a list of one.
fn only<T>(list: &[T]) -> Option<&T> {
    match list {
        [one] => Some(one),
        _ => None,
    }
}
