//! What stays the same of the instance types of a node class while stock and prices change.

use std::sync::Arc;

use kerf_catalog::aws::{Market, TypeFacts, Zone};
use kerf_catalog::settings::NodeClassSettings;
use kerf_catalog::shape::Shape;

use super::Stock;

/// Labels, capacity and overhead of every type, and what they were made from. Classes that agree
/// in that share them: they are some seven kilobytes a type.
#[derive(Debug)]
pub(super) struct ClassFacts {
    /// What is sold.
    pub(super) stock: Arc<Stock>,
    /// What the class says that matters to them.
    pub(super) settings: NodeClassSettings,
    /// Where it has subnets.
    pub(super) zones: Vec<Zone>,
    /// For each shape of the stock; none where it is sold in none of the zones.
    pub(super) types: Vec<Option<TypeFacts>>,
}

impl ClassFacts {
    /// Works them out.
    pub(super) fn new(
        region: &str,
        stock: Arc<Stock>,
        settings: NodeClassSettings,
        zones: Vec<Zone>,
    ) -> Self {
        let market = Market::new(region, &settings, zones.iter().cloned());
        let facts = |shape: &Shape| {
            let sold = stock.zones.get(&shape.name)?;
            market.facts(shape, |zone| sold.contains(&zone.name))
        };
        let types = stock.shapes.iter().map(facts).collect();
        Self { stock, settings, zones, types }
    }

    /// Whether they are those of such a class.
    pub(super) fn are_of(
        &self,
        stock: &Arc<Stock>,
        settings: &NodeClassSettings,
        zones: &[Zone],
    ) -> bool {
        Arc::ptr_eq(&self.stock, stock) && self.settings == *settings && self.zones == zones
    }
}
