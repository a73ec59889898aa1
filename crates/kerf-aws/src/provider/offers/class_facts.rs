//! What stays the same of the instance types of a node class while stock and prices change.

use std::sync::Arc;

use kerf_api::ec2_node_class::Kubelet;
use kerf_catalog::aws::{Market, TypeFacts, Zone};
use kerf_catalog::settings::NodeClassSettings;
use kerf_catalog::shape::Shape;
use tracing::warn;

use super::Stock;
use crate::catalogue::kubelet_expressions::KubeletExpressions;
use crate::provider::launch_template::{Asked, Images};

/// Labels, capacity and overhead of every type, and what they were made from. Classes that agree
/// in that share them: they are some seven kilobytes a type.
#[derive(Debug)]
pub(super) struct ClassFacts {
    /// What is sold.
    pub(super) stock: Arc<Stock>,
    /// What the class says that matters to them.
    pub(super) settings: NodeClassSettings,
    /// Its settings of the kubelet where they hold expressions.
    computed_by: Option<Kubelet>,
    /// What its images ask of a type, as far as they are known.
    images: Option<Asked>,
    /// Where it has subnets.
    pub(super) zones: Vec<Zone>,
    /// For each shape of the stock; none where it is sold in none of the zones.
    pub(super) types: Vec<Option<TypeFacts>>,
    /// The types that none of its images runs on.
    pub(super) without_image: Vec<String>,
}

/// What they are made from, beside the stock.
pub(super) struct MadeFrom<'a> {
    pub(super) settings: NodeClassSettings,
    /// The settings of the kubelet, with expressions as they are written.
    pub(super) kubelet: Option<&'a Kubelet>,
    /// What its images ask of a type; none while none is known.
    pub(super) images: Option<Asked>,
    pub(super) zones: Vec<Zone>,
}

impl MadeFrom<'_> {
    fn has_expressions(&self) -> bool {
        self.kubelet.is_some_and(|it| KubeletExpressions::of(it).is_ok_and(|all| all.is_some()))
    }
}

impl ClassFacts {
    /// Works them out.
    pub(super) fn new(region: &str, stock: Arc<Stock>, made_from: MadeFrom<'_>) -> Self {
        let MadeFrom { settings, kubelet, images, zones } = made_from;
        let expressions = kubelet.and_then(|it| KubeletExpressions::of(it).ok().flatten());
        let market = Market::new(region, &settings, zones.iter().cloned());
        let facts = |shape: &Shape| {
            let sold = stock.zones.get(&shape.name)?;
            let is_sold = |zone: &Zone| sold.contains(&zone.name);
            let Some(expressions) = &expressions else { return market.facts(shape, is_sold) };
            let (computed, errors) = expressions.settings_for(shape, &settings);
            errors.iter().for_each(|error| warn!(%error, "left to its default"));
            Market::new(region, &computed, zones.iter().cloned()).facts(shape, is_sold)
        };
        let can_run = images.as_ref().map(Images::asking);
        let mut without_image = Vec::new();
        let facts = |shape: &Shape| {
            let facts = facts(shape)?;
            match &can_run {
                Some(images) if images.for_type(facts.requirements()).is_none() => {
                    without_image.push(shape.name.clone());
                    Some(facts.without_image())
                }
                _ => Some(facts),
            }
        };
        let types = stock.shapes.iter().map(facts).collect();
        let computed_by = expressions.and(kubelet).cloned();
        Self { stock, settings, computed_by, images, zones, types, without_image }
    }

    /// Whether they are those of such a class.
    pub(super) fn are_of(&self, stock: &Arc<Stock>, class: &MadeFrom<'_>) -> bool {
        let is_same = |own: &Kubelet| class.kubelet == Some(own);
        Arc::ptr_eq(&self.stock, stock)
            && self.settings == class.settings
            && self.zones == class.zones
            && self.images == class.images
            && match &self.computed_by {
                Some(own) => is_same(own),
                None => !class.has_expressions(),
            }
    }
}
