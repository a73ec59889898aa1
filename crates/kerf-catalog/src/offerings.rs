//! The ways to buy a machine of a type: zone by zone, on demand and as spot.

use kerf_model::instance_type::Offering;
use kerf_model::labels::{aws, well_known};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;

use crate::aws::Zone;
use crate::labels::capacity_types;
use crate::price::PriceBook;
use crate::settings::PlacementGroup;
use crate::shape::Shape;

/// One offering for each zone and capacity type, and for each partition of the placement group if
/// it has any. Without a known price an offering cannot be compared and so is not available.
///
/// That none of these is a reservation is said once, by the labels of the type: there are no
/// reserved offerings beside these that they would have to be told from.
pub(crate) fn offerings(
    shape: &Shape,
    zones: &[&Zone],
    group: Option<&PlacementGroup>,
    is_compatible: bool,
    prices: &impl PriceBook,
) -> Vec<Offering> {
    let partitions = group.map_or(0, |group| group.partitions);
    let mut offerings = Vec::with_capacity(zones.len() * 2 * partitions.max(1) as usize);
    let on_demand = prices.on_demand(shape);
    for zone in zones {
        for capacity_type in capacity_types(shape) {
            let price = match capacity_type {
                well_known::SPOT => prices.spot(shape, &zone.name),
                _ => on_demand,
            };
            let offering = offering(zone, capacity_type, price, is_compatible);
            if partitions == 0 {
                offerings.push(offering);
            } else {
                offerings.extend((1..=partitions).map(|n| in_partition(&offering, n)));
            }
        }
    }
    offerings
}

fn offering(
    zone: &Zone,
    capacity_type: &str,
    price: Option<Price>,
    is_compatible: bool,
) -> Offering {
    let mut requirements = Vec::with_capacity(3);
    requirements.push(one(well_known::CAPACITY_TYPE, capacity_type));
    requirements.push(one(well_known::ZONE, &zone.name));
    if let Some(id) = &zone.id {
        requirements.push(one(aws::ZONE_ID, id));
    }
    Offering {
        requirements,
        price: price.unwrap_or(Price::ZERO),
        available: is_compatible && price.is_some(),
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}

fn in_partition(offering: &Offering, partition: u32) -> Offering {
    let mut offering = offering.clone();
    let entry = one(aws::PLACEMENT_GROUP_PARTITION, &partition.to_string());
    offering.requirements.push(entry);
    offering
}

fn one(key: &str, value: &str) -> RequirementEntry {
    RequirementEntry::new(key, Operator::In, [value])
}
