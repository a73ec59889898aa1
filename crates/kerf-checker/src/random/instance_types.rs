//! Instance types and their offerings.

use kerf_model::instance_type::{InstanceType, Offering, Overhead, Reservation};
use kerf_model::labels::{kwok, well_known};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, MEMORY, ResourceList};

use super::Size;
use super::names::{FAMILIES, GPU, REGION_NAME, amounts};
use super::rng::Rng;

/// Micro-dollars per processor and hour, about what a general-purpose instance costs.
const CPU_MICROS_PER_HOUR: u64 = 48_000;

pub(super) fn instance_types(rng: &mut Rng, size: &Size, zones: &[&str]) -> Vec<InstanceType> {
    let count = rng.between(3.min(size.types as u64).max(1), size.types.max(1) as u64);
    (0..count).map(|number| instance_type(rng, size, zones, number)).collect()
}

fn instance_type(rng: &mut Rng, size: &Size, zones: &[&str], number: u64) -> InstanceType {
    let cpu = 1 << rng.between(0, 6);
    let family = rng.below(FAMILIES.len());
    let memory_gibibytes = cpu << (family + 1);
    let name = format!("{}{number}.{cpu}", FAMILIES[family]);
    let slots = if rng.chance(10) { 4 } else { 8 + cpu * 4 };
    let mut capacity = amounts(cpu * 1000, memory_gibibytes * 1024, slots);
    if rng.chance(20) {
        capacity.insert(GPU, Quantity::from_int(rng.between(1, 4) as i64));
    }
    let here = rng.some(zones);
    let offerings = offerings(rng, size, &here, cpu, number);
    let arch = if rng.chance(30) { well_known::ARCH_ARM64 } else { well_known::ARCH_AMD64 };
    let capacity_types = [well_known::ON_DEMAND, well_known::SPOT, well_known::RESERVED];
    let sold = |wanted: &&str| {
        let mut entries = offerings.iter().flat_map(|offering: &Offering| &*offering.requirements);
        entries.any(|entry| entry.values.iter().any(|value| value == wanted))
    };
    let sold: Vec<&str> = capacity_types.into_iter().filter(sold).collect();
    let entry =
        |key, values: &[&str]| RequirementEntry::new(key, Operator::In, values.iter().copied());
    let requirements = vec![
        entry(well_known::INSTANCE_TYPE, &[&name]),
        entry(well_known::ARCH, &[arch]),
        entry(well_known::OS, &[well_known::OS_LINUX]),
        entry(well_known::REGION, &[REGION_NAME]),
        entry(well_known::ZONE, &here),
        entry(well_known::CAPACITY_TYPE, &sold),
        entry(kwok::INSTANCE_CPU, &[&cpu.to_string()]),
        entry(kwok::INSTANCE_FAMILY, &[FAMILIES[family]]),
    ];
    InstanceType {
        name,
        requirements: requirements.into(),
        capacity: capacity.into(),
        overhead: overhead().into(),
        offerings: offerings.into(),
    }
}

fn overhead() -> Overhead {
    Overhead {
        kube_reserved: ResourceList::from_iter([
            (CPU, Quantity::from_milli(80)),
            (MEMORY, Quantity::from_bytes(200 << 20)),
        ]),
        eviction_threshold: ResourceList::from_iter([(MEMORY, Quantity::from_bytes(100 << 20))]),
        ..Overhead::default()
    }
}

fn offerings(rng: &mut Rng, size: &Size, zones: &[&str], cpu: u64, number: u64) -> Vec<Offering> {
    let mut offerings = Vec::new();
    for zone in zones {
        let full = cpu * CPU_MICROS_PER_HOUR + rng.between(0, 9) * 1_000;
        offerings.push(offering(rng, zone, well_known::ON_DEMAND, full));
        if rng.chance(60) {
            let spot = full * rng.between(25, 90) / 100;
            offerings.push(offering(rng, zone, well_known::SPOT, spot));
        }
        if size.reservations && rng.chance(15) {
            let mut reserved = offering(rng, zone, well_known::RESERVED, 1);
            let remaining = rng.between(0, 3) as u32;
            reserved.available &= remaining > 0;
            let id = format!("reservation-{number}-{zone}");
            reserved.reservation = Some(Reservation { id, remaining });
            offerings.push(reserved);
        }
    }
    offerings
}

fn offering(rng: &mut Rng, zone: &str, capacity_type: &str, micros: u64) -> Offering {
    let mut capacity_override = ResourceList::new();
    if rng.chance(5) {
        capacity_override.insert(MEMORY, Quantity::from_bytes(1 << 30));
    }
    Offering {
        requirements: [
            RequirementEntry::new(well_known::ZONE, Operator::In, [zone]),
            RequirementEntry::new(well_known::CAPACITY_TYPE, Operator::In, [capacity_type]),
        ]
        .into(),
        price: Price::from_micros_per_hour(micros),
        available: rng.chance(85),
        reservation: None,
        capacity_override,
        overhead_override: None,
    }
}
