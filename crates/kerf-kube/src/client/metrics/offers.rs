//! What AWS offers: types, where each can be had, and for how much. Pools share what is the same.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use kerf_engine::World;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::aws::{INSTANCE_CPU, INSTANCE_MEMORY};
use kerf_model::labels::well_known::{CAPACITY_TYPE, RESERVED, ZONE};
use kerf_model::price::Price;
use kerf_model::requirement::RequirementEntry;
use kerf_runtime::metrics::Page;

const CPU: &str = "karpenter_cloudprovider_instance_type_cpu_cores";
const MEMORY: &str = "karpenter_cloudprovider_instance_type_memory_bytes";
const AVAILABLE: &str = "karpenter_cloudprovider_instance_type_offering_available";
const PRICE: &str = "karpenter_cloudprovider_instance_type_offering_price_estimate";

const MIB: f64 = 1_048_576.0;
const MICROS: f64 = 1_000_000.0;

/// Where and how a type is sold, and whether it can be had now for any pool.
type Offers<'a> = BTreeMap<(&'a str, &'a str), (bool, Price)>;

/// Writes the gauges of types that tell how they are labelled on AWS; other clouds have none.
pub(super) fn write(page: &mut Page, world: &World) {
    let mut types: BTreeMap<&str, (&InstanceType, Offers<'_>)> = BTreeMap::new();
    let mut seen = HashSet::new();
    for offered in world.instance_types.values().filter(|types| seen.insert(Arc::as_ptr(types))) {
        for instance_type in offered.iter() {
            let entry = types.entry(&instance_type.name);
            let (_, offers) = entry.or_insert_with(|| (instance_type, Offers::new()));
            instance_type.offerings.iter().for_each(|offering| add(offers, offering));
        }
    }
    let zones = types.values().flat_map(|(_, offers)| offers.keys().map(|(_, zone)| *zone));
    let zones: BTreeSet<&str> = zones.collect();
    for (name, (instance_type, mut offers)) in types {
        fill(&mut offers, &zones);
        let label = |key| value(&instance_type.requirements, key).and_then(|it| it.parse().ok());
        let (Some(cpu), Some(mib)) = (label(INSTANCE_CPU), label(INSTANCE_MEMORY)) else {
            continue;
        };
        let (cpu, mib): (f64, f64) = (cpu, mib);
        let labels = [("instance_type", name.to_owned())];
        page.gauge(CPU, &labels, cpu);
        page.gauge(MEMORY, &labels, mib * MIB);
        for ((capacity_type, zone), (is_available, price)) in offers {
            let labels = [
                ("capacity_type", capacity_type.to_owned()),
                ("instance_type", name.to_owned()),
                ("zone", zone.to_owned()),
            ];
            page.gauge(AVAILABLE, &labels, f64::from(u8::from(is_available)));
            if price.is_known() {
                let dollars = price.micros_per_hour() as f64 / MICROS;
                page.gauge(PRICE, &labels, dollars);
            }
        }
    }
}

/// Where others are sold and a type is not, it is not available: its series do not come and go.
fn fill<'a>(offers: &mut Offers<'a>, zones: &BTreeSet<&'a str>) {
    let capacity_types: BTreeSet<&str> = offers.keys().map(|(it, _)| *it).collect();
    for capacity_type in capacity_types {
        for zone in zones {
            offers.entry((capacity_type, zone)).or_insert((false, Price::UNKNOWN));
        }
    }
}

/// Reserved capacity is shown wherever there could be some, so that its series does not come and
/// go.
fn add<'a>(offers: &mut Offers<'a>, offering: &'a Offering) {
    let label = |key| value(&offering.requirements, key);
    let (Some(capacity_type), Some(zone)) = (label(CAPACITY_TYPE), label(ZONE)) else { return };
    offers.entry((RESERVED, zone)).or_insert((false, Price::ZERO));
    let known = offers.entry((capacity_type, zone)).or_insert((false, offering.price));
    let is_cheaper = known.1 == Price::ZERO || offering.price < known.1;
    *known = (known.0 || offering.available, if is_cheaper { offering.price } else { known.1 });
}

fn value<'a>(entries: &'a [RequirementEntry], key: &str) -> Option<&'a str> {
    let entry = entries.iter().find(|entry| entry.key == key)?;
    entry.values.first().map(String::as_str)
}
