//! The labels an AWS machine of a type may carry, one entry for each.

use kerf_model::labels::{aws, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::ami_family::AmiFamily;
use crate::aws::Zone;
use crate::name::name_parts;
use crate::settings::{NodeClassSettings, PlacementGroup};
use crate::shape::{Architecture, Hypervisor, Shape};

/// How many labels a type has at most: the AWS ones and the six common ones.
const LABELS_MAX: usize = aws::WELL_KNOWN.len() + 6;

/// Entries in the making.
struct Labels {
    entries: Vec<RequirementEntry>,
}

/// The labels of a type that is sold in these zones of a region.
pub(crate) fn requirements(
    shape: &Shape,
    settings: &NodeClassSettings,
    region: &str,
    zones: &[&Zone],
) -> Vec<RequirementEntry> {
    let mut labels = Labels { entries: Vec::with_capacity(LABELS_MAX) };
    labels.one(well_known::INSTANCE_TYPE, shape.name.as_str());
    labels.one(well_known::ARCH, shape.architecture.label());
    labels.maybe(well_known::OS, operating_system(shape, settings.ami_family));
    labels.any_of(well_known::ZONE, zones.iter().map(|zone| zone.name.as_str()));
    labels.one(well_known::REGION, region);
    labels.maybe(well_known::WINDOWS_BUILD, settings.ami_family.windows_build());
    labels.any_of(well_known::CAPACITY_TYPE, capacity_types(shape));
    if zones.iter().any(|zone| zone.id.is_some()) {
        // Without a subnet nobody can tell the ids: they differ from account to account.
        labels.any_of(aws::ZONE_ID, zones.iter().filter_map(|zone| zone.id.as_deref()));
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

/// Labels that only reserved machines carry.
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

impl Labels {
    fn name(&mut self, shape: &Shape) {
        let parts = name_parts(&shape.name);
        self.maybe(aws::INSTANCE_CATEGORY, parts.category);
        self.maybe(aws::INSTANCE_GENERATION, parts.generation);
        self.maybe(aws::INSTANCE_FAMILY, parts.family);
        self.maybe(aws::INSTANCE_SIZE, parts.size);
        self.flag(aws::INSTANCE_CAPABILITY_FLEX, parts.is_flex);
    }

    fn processor(&mut self, shape: &Shape) {
        self.one(aws::INSTANCE_CPU, shape.vcpus.to_string());
        self.one(aws::INSTANCE_CPU_MANUFACTURER, lower_kebab(&shape.cpu_maker));
        self.one(aws::INSTANCE_CPU_SUSTAINED_CLOCK_SPEED_MHZ, shape.clock_mhz.to_string());
        self.one(aws::INSTANCE_MEMORY, shape.memory_mib.to_string());
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
        self.maybe(aws::INSTANCE_EBS_BANDWIDTH, shape.ebs_mbps.map(|n| n.to_string()));
        let bandwidth_mbps = network.facts.bandwidth_mbps;
        self.maybe(aws::INSTANCE_NETWORK_BANDWIDTH, bandwidth_mbps.map(|n| n.to_string()));
        let nvme = shape.instance_storage.filter(|storage| storage.is_nvme);
        self.maybe(aws::INSTANCE_LOCAL_NVME, nvme.map(|nvme| nvme.total_gb.to_string()));
        let key = aws::INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED;
        self.flag(key, network.encrypts_in_transit);
    }

    /// Labels have room for one kind of device; with several kinds none is named.
    fn devices(&mut self, shape: &Shape) {
        let gpu = only(&shape.gpus);
        self.maybe(aws::INSTANCE_GPU_NAME, gpu.map(|gpu| lower_kebab(&gpu.name)));
        self.maybe(aws::INSTANCE_GPU_MANUFACTURER, gpu.map(|gpu| lower_kebab(&gpu.maker)));
        self.maybe(aws::INSTANCE_GPU_COUNT, gpu.map(|gpu| gpu.count.to_string()));
        self.maybe(aws::INSTANCE_GPU_MEMORY, gpu.map(|gpu| gpu.memory_mib.to_string()));
        let neuron = only(&shape.neurons).map(|kind| (&*kind.name, "aws", kind.count));
        let other =
            || only(&shape.accelerators).map(|kind| (&*kind.name, &*kind.maker, kind.count));
        let device = if shape.neurons.is_empty() { other() } else { neuron };
        self.maybe(aws::INSTANCE_ACCELERATOR_NAME, device.map(|(name, _, _)| lower_kebab(name)));
        let maker = device.map(|(_, maker, _)| lower_kebab(maker));
        self.maybe(aws::INSTANCE_ACCELERATOR_MANUFACTURER, maker);
        let count = device.map(|(_, _, count)| count.to_string());
        self.maybe(aws::INSTANCE_ACCELERATOR_COUNT, count);
    }

    fn placement_group(&mut self, group: Option<&PlacementGroup>) {
        self.maybe(aws::PLACEMENT_GROUP_ID, group.map(|group| group.id.as_str()));
        let partitions = group.map_or(0, |group| group.partitions);
        let values: Vec<String> = (1..=partitions).map(|number| number.to_string()).collect();
        self.any_of(aws::PLACEMENT_GROUP_PARTITION, values);
    }

    fn flag(&mut self, key: &str, is_set: bool) {
        self.one(key, if is_set { "true" } else { "false" });
    }

    fn one(&mut self, key: &str, value: impl Into<String>) {
        self.push(key, Operator::In, vec![value.into()]);
    }

    fn maybe(&mut self, key: &str, value: Option<impl Into<String>>) {
        match value {
            Some(value) => self.one(key, value),
            None => self.absent(key),
        }
    }

    fn any_of(&mut self, key: &str, values: impl IntoIterator<Item = impl Into<String>>) {
        let values: Vec<String> = values.into_iter().map(Into::into).collect();
        match values.is_empty() {
            false => self.push(key, Operator::In, values),
            true => self.absent(key),
        }
    }

    fn absent(&mut self, key: &str) {
        self.push(key, Operator::DoesNotExist, Vec::new());
    }

    fn push(&mut self, key: &str, operator: Operator, values: Vec<String>) {
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
