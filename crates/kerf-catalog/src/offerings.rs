//! The ways to buy an instance of a type: zone by zone, on demand and as spot.

use std::sync::Arc;

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
/// it has any. What is sold without a known price is the last choice ([`Price::UNKNOWN`]); spot
/// without one, where others have one, is not sold.
///
/// That none of these is a reservation is said once, by the labels of the type: there are no
/// reserved offerings beside these to tell these from.
pub(crate) fn offerings(
    shape: &Shape,
    zones: &[&ZoneWays],
    is_compatible: bool,
    prices: &impl PriceBook,
) -> Vec<Offering> {
    let most = zones.iter().map(|ways| ways.on_demand.len() + ways.spot.len()).sum();
    let mut offerings = Vec::with_capacity(most);
    let on_demand = prices.on_demand(shape);
    for ways in zones {
        for capacity_type in capacity_types(shape) {
            let (price, ways) = match capacity_type {
                well_known::SPOT => (prices.spot(shape, &ways.zone.name), &ways.spot),
                _ => (on_demand, &ways.on_demand),
            };
            let is_sold =
                price.is_some() || on_demand.is_none() || capacity_type != well_known::SPOT;
            let available = is_compatible && is_sold;
            offerings.extend(ways.iter().map(|way| offering(way, price, available)));
        }
    }
    offerings
}

/// The ways to buy an instance of any type in a zone: several where there are partitions.
pub(crate) struct ZoneWays {
    pub(crate) zone: Zone,
    on_demand: Vec<Way>,
    spot: Vec<Way>,
}

/// What tells a way to buy from the others.
type Way = Arc<[RequirementEntry]>;

impl ZoneWays {
    pub(crate) fn new(zone: Zone, group: Option<&PlacementGroup>) -> Self {
        let partitions = group.map_or(0, |group| group.partitions);
        let ways = |capacity_type| match partitions {
            0 => vec![way(&zone, capacity_type, None)],
            _ => (1..=partitions).map(|n| way(&zone, capacity_type, Some(n))).collect(),
        };
        let (on_demand, spot) = (ways(well_known::ON_DEMAND), ways(well_known::SPOT));
        Self { zone, on_demand, spot }
    }
}

fn way(zone: &Zone, capacity_type: &str, partition: Option<u32>) -> Way {
    let id = zone.id.as_ref().map(|id| one(aws::ZONE_ID, id));
    let partition = partition.map(|n| one(aws::PLACEMENT_GROUP_PARTITION, &n.to_string()));
    [one(well_known::CAPACITY_TYPE, capacity_type), one(well_known::ZONE, &zone.name)]
        .into_iter()
        .chain(id)
        .chain(partition)
        .collect()
}

fn offering(way: &Way, price: Option<Price>, available: bool) -> Offering {
    Offering {
        requirements: way.clone(),
        price: price.unwrap_or(Price::UNKNOWN),
        available,
        reservation: None,
        capacity_override: ResourceList::new(),
        overhead_override: None,
    }
}

fn one(key: &str, value: &str) -> RequirementEntry {
    RequirementEntry::new(key, Operator::In, [value])
}
