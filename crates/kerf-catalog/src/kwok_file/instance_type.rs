//! From what a file says about an instance to a whole instance type.

use kerf_model::instance_type::{InstanceType, Offering, Overhead};
use kerf_model::labels::{kwok, well_known};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, MEMORY, PODS, ResourceList};

/// The kubelet's own default for the pods of a node.
const PODS_DEFAULT: Quantity = Quantity::from_int(110);
/// What every kwok node keeps from pods.
const KUBE_RESERVED_CPU: Quantity = Quantity::from_milli(100);
const KUBE_RESERVED_MEMORY: Quantity = Quantity::from_bytes(10 << 20);
/// Sizes in names such as `m5.large`; any number may stand before `xlarge`.
const SIZES: [&str; 6] = ["nano", "micro", "small", "medium", "large", "metal"];

/// What is said about an instance; the rest follows.
pub(crate) struct InstanceTypeFacts {
    pub(crate) name: String,
    pub(crate) architecture: String,
    pub(crate) operating_systems: Vec<String>,
    pub(crate) resources: ResourceList,
    pub(crate) offerings: Vec<Offering>,
}

/// The instance type the kwok provider makes of it.
pub(crate) fn kwok_instance_type(facts: InstanceTypeFacts) -> InstanceType {
    let requirements = requirements(&facts);
    let mut capacity = facts.resources;
    if capacity.get(PODS).is_none() {
        capacity.insert(PODS, PODS_DEFAULT);
    }
    let mut kube_reserved = ResourceList::new();
    kube_reserved.insert(CPU, KUBE_RESERVED_CPU);
    kube_reserved.insert(MEMORY, KUBE_RESERVED_MEMORY);
    InstanceType {
        name: facts.name,
        requirements: requirements.into(),
        capacity: capacity.into(),
        overhead: Overhead { kube_reserved, ..Overhead::default() }.into(),
        offerings: facts.offerings.into(),
    }
}

fn requirements(facts: &InstanceTypeFacts) -> Vec<RequirementEntry> {
    let cpu = facts.resources.quantity(CPU).to_string();
    let memory = facts.resources.quantity(MEMORY).to_string();
    let size = size_in_name(&facts.name).unwrap_or(&cpu);
    vec![
        any_of(well_known::INSTANCE_TYPE, [facts.name.as_str()]),
        any_of(well_known::ARCH, [facts.architecture.as_str()]),
        any_of(well_known::OS, facts.operating_systems.iter().map(String::as_str)),
        any_of(well_known::ZONE, offered(facts, well_known::ZONE)),
        any_of(well_known::CAPACITY_TYPE, offered(facts, well_known::CAPACITY_TYPE)),
        any_of(kwok::INSTANCE_SIZE, [size]),
        any_of(kwok::INSTANCE_FAMILY, [family_in_name(&facts.name)]),
        any_of(kwok::INSTANCE_CPU, [cpu.as_str()]),
        any_of(kwok::INSTANCE_MEMORY, [memory.as_str()]),
    ]
}

/// The values some offering has for a label, each once, in the order of the offerings.
fn offered<'a>(facts: &'a InstanceTypeFacts, key: &str) -> Vec<&'a str> {
    let entries = facts.offerings.iter().flat_map(|offering| &*offering.requirements);
    let values = entries.filter(|entry| entry.key == key).flat_map(|entry| &entry.values);
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value.as_str()) {
            distinct.push(value.as_str());
        }
    }
    distinct
}

/// The size in a name that looks like AWS's.
fn size_in_name(name: &str) -> Option<&str> {
    let (family, size) = name.split_once('.')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let has_number = |prefix: &str| prefix.bytes().all(|b| b.is_ascii_digit());
    let is_size = SIZES.contains(&size) || size.strip_suffix("xlarge").is_some_and(has_number);
    (!family.is_empty() && family.chars().all(is_word) && is_size).then_some(size)
}

/// What stands before the first dot or dash, else the first letter.
fn family_in_name(name: &str) -> &str {
    match name.find(['.', '-']) {
        Some(end) => &name[..end],
        None => &name[..name.chars().next().map_or(0, char::len_utf8)],
    }
}

fn any_of<'a>(key: &str, values: impl IntoIterator<Item = &'a str>) -> RequirementEntry {
    let entry = RequirementEntry::new(key, Operator::In, values);
    if entry.values.is_empty() {
        return RequirementEntry::new(key, Operator::DoesNotExist, []);
    }
    entry
}
