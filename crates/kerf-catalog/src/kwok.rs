//! The types of the kwok provider: a ladder of sizes, three ratios of memory to processors.

use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known;
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, PODS, ResourceList};

use crate::kwok_file::{InstanceTypeFacts, kwok_instance_type};

const GIB: i64 = 1 << 30;
/// The sizes, in processors.
const CPUS: [i64; 12] = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/// The families: a letter, and gibibytes of memory for each processor.
const FAMILIES: [(&str, i64); 3] = [("c", 2), ("s", 4), ("m", 8)];
const OPERATING_SYSTEMS: [&str; 2] = [well_known::OS_LINUX, well_known::OS_WINDOWS];
const ARCHITECTURES: [&str; 2] = [well_known::ARCH_AMD64, well_known::ARCH_ARM64];
const ZONES: [&str; 4] = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
const PODS_PER_CPU: i64 = 16;
const PODS_MAX: i64 = 1024;
/// A processor costs 0.025 dollars, a billion bytes 0.001 dollars an hour; in millionths of a
/// micro-dollar, where both are whole, that is this much a processor and one a byte.
const PICO_DOLLARS_PER_CPU: i64 = 25_000_000_000;
const PICO_DOLLARS_PER_MICRO: i64 = 1_000_000;
/// What spot costs, in tenths of the on-demand price.
const SPOT_TENTHS: i64 = 7;

/// The 144 types of the kwok provider, in the reference's order.
///
/// Prices are exact until the end and then rounded to the nearest micro-dollar, halves up, each
/// by itself: spot is 0.7 of the exact on-demand price.
#[must_use]
pub fn kwok() -> Vec<InstanceType> {
    let mut types = Vec::with_capacity(CPUS.len() * FAMILIES.len() * 4);
    for cpu in CPUS {
        for (family, gib_per_cpu) in FAMILIES {
            for os in OPERATING_SYSTEMS {
                for architecture in ARCHITECTURES {
                    types.push(generic(family, cpu, cpu * gib_per_cpu * GIB, os, architecture));
                }
            }
        }
    }
    types
}

fn generic(
    family: &str,
    cpu: i64,
    memory_bytes: i64,
    os: &str,
    architecture: &str,
) -> InstanceType {
    let mut resources = ResourceList::new();
    resources.insert(CPU, Quantity::from_int(cpu));
    resources.insert(MEMORY, Quantity::from_bytes(memory_bytes));
    resources.insert(PODS, Quantity::from_int((cpu * PODS_PER_CPU).min(PODS_MAX)));
    resources.insert(EPHEMERAL_STORAGE, Quantity::from_bytes(20 * GIB));
    let price_pico_dollars = PICO_DOLLARS_PER_CPU * cpu + memory_bytes;
    kwok_instance_type(InstanceTypeFacts {
        name: format!("{family}-{cpu}x-{architecture}-{os}"),
        architecture: architecture.to_owned(),
        operating_systems: vec![os.to_owned()],
        resources,
        offerings: offerings(price_pico_dollars),
    })
}

fn offerings(price_pico_dollars: i64) -> Vec<Offering> {
    let spot = rounded_price(price_pico_dollars * SPOT_TENTHS, 10 * PICO_DOLLARS_PER_MICRO);
    let on_demand = rounded_price(price_pico_dollars, PICO_DOLLARS_PER_MICRO);
    let sold = [(well_known::SPOT, spot), (well_known::ON_DEMAND, on_demand)];
    ZONES.iter().flat_map(|zone| sold.map(|(kind, price)| offering(kind, zone, price))).collect()
}

fn rounded_price(amount: i64, parts_per_micro: i64) -> Price {
    let micros = (amount + parts_per_micro / 2) / parts_per_micro;
    Price::from_micros_per_hour(u64::try_from(micros).expect("sizes and prices are above zero"))
}

fn offering(capacity_type: &str, zone: &str, price: Price) -> Offering {
    Offering {
        requirements: [
            RequirementEntry::new(well_known::CAPACITY_TYPE, Operator::In, [capacity_type]),
            RequirementEntry::new(well_known::ZONE, Operator::In, [zone]),
        ]
        .into(),
        price,
        available: true,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}
