//! The cost below which no fleet can hold the pods that go to new nodes.
//!
//! Pods that can never share a node (one wants spot instance types, the other any but those) cost
//! at least what each alone would cost at least, so the bounds of such components are added. Within
//! a component instance types may be bought in fractions, but one of them is needed whole.

use std::collections::BTreeMap;
use std::ptr;

use kerf_model::price::Price;

use crate::packing::bin::Content;
use crate::packing::dual_prices::DualPrices;
use crate::reading::demand::Demand;
use crate::solving::rounds::Placed;
use crate::solving::solver::Solver;
use crate::units::{self, Amounts};

/// Most classes that are compared with each other; more are taken for one component, whose bound is
/// lower and as true.
const COMPARED_MAX: usize = 64;

/// Classes that could share nodes, directly or by way of others, and what they ask for together.
#[derive(Default)]
struct Component {
    classes: Vec<usize>,
    requests: Amounts,
}

impl Solver<'_> {
    /// The least that new nodes for these pods can cost, however they are chosen.
    pub(crate) fn lower_bound(&self, placed: &Placed) -> Price {
        let micros =
            self.components(placed).into_iter().map(|component| self.least_micros(&component));
        Price::from_micros_per_hour(micros.fold(0, u64::saturating_add))
    }

    fn components(&self, placed: &Placed) -> Vec<Component> {
        let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
        for Content { item, count } in placed.bins.iter().flat_map(|bin| &bin.contents) {
            *counts.entry(item.class).or_default() += count;
        }
        let are_compared = counts.len() <= COMPARED_MAX;
        let mut components: Vec<Component> = Vec::new();
        for (class, count) in counts {
            let mut joined = Component { classes: vec![class], requests: Amounts::new() };
            units::add(&mut joined.requests, &self.base.classes[class].requests, count);
            let meets = |component: &mut Component| {
                let mut classes = component.classes.iter();
                !are_compared || classes.any(|other| self.can_share(class, *other))
            };
            for component in components.extract_if(.., meets) {
                joined.classes.extend(component.classes);
                units::add(&mut joined.requests, &component.requests, 1);
            }
            components.push(joined);
        }
        components
    }

    /// Whether a node could suit pods of both classes.
    fn can_share(&self, one: usize, other: usize) -> bool {
        let classes = &self.base.classes;
        classes[one].variants.iter().any(|one| {
            let mut others = classes[other].variants.iter();
            others.any(|other| one.node.intersects(&other.node, &self.base.vocabulary))
        })
    }

    fn least_micros(&self, component: &Component) -> u64 {
        let instance_types = self.instance_types_for(component);
        let cheapest = instance_types.iter().map(|(_, price_micros)| *price_micros).min();
        let dual_prices =
            DualPrices::of(&component.requests, instance_types.into_iter(), &self.context(), 0);
        dual_prices.bound_micros().max(cheapest.unwrap_or(0))
    }

    /// Every instance type that could serve some of a component, at the least it could cost.
    fn instance_types_for(&self, component: &Component) -> Vec<(usize, u64)> {
        let ways = component.classes.iter().flat_map(|class| &self.base.classes[*class].variants);
        let demands: Option<Vec<&Demand>> =
            ways.map(|way| self.demands.known(&way.node, &way.tolerated)).collect();
        let Some(mut demands) = demands else { return self.all_instance_types() };
        demands.sort_unstable_by_key(|demand| ptr::from_ref(*demand));
        demands.dedup_by_key(|demand| ptr::from_ref(*demand));
        let mut prices = vec![u64::MAX; self.base.instance_types.all.len()];
        for (instance_type, price_micros) in demands.into_iter().flat_map(|demand| &demand.priced) {
            let known = &mut prices[*instance_type as usize];
            *known = (*known).min(*price_micros);
        }
        prices
            .into_iter()
            .enumerate()
            .filter(|(_, price_micros)| *price_micros < u64::MAX)
            .collect()
    }

    fn all_instance_types(&self) -> Vec<(usize, u64)> {
        let instance_types = self.base.instance_types.all.iter().enumerate();
        let priced = instance_types.filter_map(|(index, instance_type)| {
            Some((index, instance_type.offerings.first()?.price_micros))
        });
        priced.collect()
    }
}
