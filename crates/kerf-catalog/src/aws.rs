//! AWS's instance types as the scheduler sees them.

use kerf_model::instance_type::InstanceType;

use crate::capacity::capacity;
use crate::compatibility::incompatibility;
use crate::labels::requirements;
use crate::offerings::offerings;
use crate::overhead::overhead;
use crate::price::{BuiltInPrices, PriceBook};
use crate::region::{UnknownRegion, region_offerings};
use crate::settings::NodeClassSettings;
use crate::shape::Shape;
use crate::table;

/// A zone machines can be launched in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zone {
    /// Its name: `us-east-1a`.
    pub name: String,
    /// Its id, the same in every account: `use1-az4`. Only a subnet can tell.
    pub id: Option<String>,
}

/// The zones a node class can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zones<'a> {
    /// All of the region.
    All,
    /// Those it has subnets in.
    Only(&'a [Zone]),
}

/// The types sold in a region and what nodes of them would be like, in the order of their names.
///
/// Types that are sold in none of the zones are left out. Types without a known price, and those
/// that cannot be what the node class asks for, are there with offerings that are not available.
///
/// # Errors
/// Nothing is known about the region.
pub fn aws(
    region: &str,
    settings: &NodeClassSettings,
    zones: Zones<'_>,
) -> Result<Vec<InstanceType>, UnknownRegion> {
    Ok(instance_types(region, settings, zones)?.collect())
}

/// The same types one by one. A region's worth of words is some ten megabytes; who turns each type
/// into numbers as it comes never holds them all, which takes half the time.
///
/// # Errors
/// Nothing is known about the region.
pub fn instance_types<'a>(
    region: &'a str,
    settings: &'a NodeClassSettings,
    zones: Zones<'_>,
) -> Result<impl Iterator<Item = InstanceType> + use<'a>, UnknownRegion> {
    let sold = region_offerings(region)?;
    let zones = match zones {
        Zones::Only(zones) => zones.to_vec(),
        Zones::All => {
            let names = crate::region::zones(region)?.into_iter();
            names.map(|name| Zone { name, id: None }).collect()
        }
    };
    Ok(sold.types.iter().filter_map(move |(name, letters)| {
        let shape = table::shape(name)?;
        let in_zones: Vec<&Zone> =
            zones.iter().filter(|zone| is_sold_in(region, letters, &zone.name)).collect();
        let is_sold = !in_zones.is_empty();
        is_sold.then(|| instance_type(shape, settings, region, &in_zones, &BuiltInPrices))
    }))
}

/// What nodes of one type would be like if it is sold in the given zones of a region.
#[must_use]
pub fn instance_type(
    shape: &Shape,
    settings: &NodeClassSettings,
    region: &str,
    zones: &[&Zone],
    prices: &impl PriceBook,
) -> InstanceType {
    let is_compatible = incompatibility(shape, settings).is_none();
    let group = settings.placement_group.as_ref();
    InstanceType {
        name: shape.name.clone(),
        requirements: requirements(shape, settings, region, zones),
        capacity: capacity(shape, settings),
        overhead: overhead(shape, settings),
        offerings: offerings(shape, zones, group, is_compatible, prices),
    }
}

fn is_sold_in(region: &str, letters: &str, zone: &str) -> bool {
    let letter = zone.strip_prefix(region).unwrap_or_default();
    letter.len() == 1 && letters.contains(letter)
}
