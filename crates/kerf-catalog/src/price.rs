//! What instances cost.
//!
//! On-demand prices are those of us-east-1, compiled in; every other region starts from them and
//! says so ([`price_source`]). Spot prices are an estimate until a live price is known: 50 % of
//! the on-demand price for instances with accelerators, whose spare capacity is scarce, and 40 %
//! for all others, the same in every zone, rounded to the nearest micro-dollar. The estimate
//! orders spot below on-demand and keeps the order of types; it is no forecast.

use kerf_model::price::Price;

use crate::region::has_region;
use crate::shape::Shape;
use crate::table::built_in;

/// The region whose on-demand prices are compiled in.
pub const PRICED_REGION: &str = "us-east-1";
/// The day those prices were asked for; `catalog/README.md` says where they come from.
pub const PRICED_ON: &str = "2026-07-06";
/// What a spot instance costs by estimate, in hundredths of its on-demand price.
pub const SPOT_PERCENT: u64 = 40;
/// The same for instances with accelerators.
pub const SPOT_PERCENT_ACCELERATED: u64 = 50;

/// Prices by type, and by zone for spot.
pub trait PriceBook {
    /// What an instance costs by the second, where that is known.
    fn on_demand(&self, shape: &Shape) -> Option<Price>;

    /// What an interruptible instance costs in a zone, where that is known.
    fn spot(&self, shape: &Shape, zone: &str) -> Option<Price>;
}

/// The prices compiled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuiltInPrices;

/// The prices of one type that are compiled in, looked up once.
pub(crate) struct BuiltInPrice {
    on_demand: Option<Price>,
}

impl BuiltInPrice {
    pub(crate) fn of(shape: &Shape) -> Self {
        Self { on_demand: BuiltInPrices.on_demand(shape) }
    }
}

impl PriceBook for BuiltInPrice {
    fn on_demand(&self, _shape: &Shape) -> Option<Price> {
        self.on_demand
    }

    fn spot(&self, shape: &Shape, _zone: &str) -> Option<Price> {
        self.on_demand.map(|on_demand| spot_estimate(shape, on_demand))
    }
}

/// Where a region's built-in on-demand prices come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSource {
    /// The region's own table.
    OwnTable,
    /// The table of [`PRICED_REGION`]: true prices differ, by up to some tens of percent.
    OtherRegion,
}

impl PriceBook for BuiltInPrices {
    fn on_demand(&self, shape: &Shape) -> Option<Price> {
        built_in().price(&shape.name)
    }

    fn spot(&self, shape: &Shape, _zone: &str) -> Option<Price> {
        self.on_demand(shape).map(|on_demand| spot_estimate(shape, on_demand))
    }
}

/// Where the built-in on-demand prices of a region come from; `None` for an unknown region.
#[must_use]
pub fn price_source(region: &str) -> Option<PriceSource> {
    match region {
        PRICED_REGION => Some(PriceSource::OwnTable),
        _ => has_region(region).then_some(PriceSource::OtherRegion),
    }
}

/// What a spot instance costs while no live price is known.
#[must_use]
pub fn spot_estimate(shape: &Shape, on_demand: Price) -> Price {
    let percent = if shape.is_accelerated() { SPOT_PERCENT_ACCELERATED } else { SPOT_PERCENT };
    let micros = u128::from(on_demand.micros_per_hour());
    let estimate = (micros * u128::from(percent) + 50) / 100;
    let estimate = u64::try_from(estimate).expect("a part of a u64 is a u64");
    // Where on-demand is not free, spot is not either.
    Price::from_micros_per_hour(estimate.max(u64::from(micros > 0)))
}
