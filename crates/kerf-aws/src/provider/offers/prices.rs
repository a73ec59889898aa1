//! What instances cost: the price file first, then what AWS told last, then the built-in tables.

use std::collections::HashMap;

use kerf_catalog::price::{BuiltInPrices, PriceBook, spot_estimate};
use kerf_catalog::shape::Shape;
use kerf_model::price::Price;

/// Prices by type, and by zone for spot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prices {
    /// What the user's file says.
    pub(super) file: PriceTable,
    /// What AWS told last.
    pub(super) live: PriceTable,
}

/// Prices of one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PriceTable {
    pub(crate) on_demand: HashMap<String, Price>,
    /// By type, then by zone.
    pub(crate) spot: HashMap<String, HashMap<String, Price>>,
}

impl PriceTable {
    /// Sets a spot price.
    pub(super) fn set_spot(&mut self, instance_type: &str, zone: &str, price: Price) {
        let zones = self.spot.entry(instance_type.to_owned()).or_default();
        zones.insert(zone.to_owned(), price);
    }

    fn spot(&self, instance_type: &str, zone: &str) -> Option<Price> {
        self.spot.get(instance_type)?.get(zone).copied()
    }
}

impl PriceBook for Prices {
    fn on_demand(&self, shape: &Shape) -> Option<Price> {
        let told = self.file.on_demand.get(&shape.name);
        let told = told.or_else(|| self.live.on_demand.get(&shape.name)).copied();
        told.or_else(|| BuiltInPrices.on_demand(shape))
    }

    /// Once AWS has told spot prices, a type without one in a zone is not sold as spot there.
    fn spot(&self, shape: &Shape, zone: &str) -> Option<Price> {
        let told = self.file.spot(&shape.name, zone);
        let told = told.or_else(|| self.live.spot(&shape.name, zone));
        match told {
            None if self.live.spot.is_empty() => {
                self.on_demand(shape).map(|on_demand| spot_estimate(shape, on_demand))
            }
            told => told,
        }
    }
}

#[cfg(test)]
mod tests {
    use kerf_catalog::table;

    use super::*;

    fn micros(price: Option<Price>) -> Option<u64> {
        price.map(Price::micros_per_hour)
    }

    fn price(micros: u64) -> Price {
        Price::from_micros_per_hour(micros)
    }

    #[test]
    fn a_file_wins_over_aws_and_aws_over_the_tables() {
        let shape = table::shape("m5.large").expect("it is in the tables");
        let mut prices = Prices::default();
        assert_eq!(micros(prices.on_demand(shape)), Some(96_000), "the tables");
        prices.live.on_demand.insert("m5.large".to_owned(), price(107_000));
        assert_eq!(micros(prices.on_demand(shape)), Some(107_000));
        prices.file.on_demand.insert("m5.large".to_owned(), price(50_000));
        assert_eq!(micros(prices.on_demand(shape)), Some(50_000));
    }

    #[test]
    fn spot_is_estimated_until_aws_has_told_and_then_taken_at_its_word() {
        let shape = table::shape("m5.large").expect("it is in the tables");
        let mut prices = Prices::default();
        assert_eq!(micros(prices.spot(shape, "z-a")), Some(38_400));
        prices.live.set_spot("m5.large", "z-a", price(31_000));
        assert_eq!(micros(prices.spot(shape, "z-a")), Some(31_000));
        assert_eq!(micros(prices.spot(shape, "z-b")), None, "not sold there");
        prices.file.set_spot("m5.large", "z-b", price(29_000));
        assert_eq!(micros(prices.spot(shape, "z-b")), Some(29_000));
    }
}
