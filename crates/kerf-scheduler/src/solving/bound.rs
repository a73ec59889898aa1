//! The cost below which no fleet can hold the pods that go to new nodes.
//!
//! Pods that can never share a node (one wants spot instance types, the other any but those) cost
//! at least what each alone would cost at least, so the bounds of such components are added. Within
//! a component instance types may be bought in fractions, but one of them is needed whole, and none
//! holds more pods of a class than fit one node: whole pods, and as many as the rules about
//! neighbours on a node let in ([`PodRows`]).

use std::collections::BTreeMap;
use std::ptr;

use kerf_model::price::Price;

use crate::packing::bin::Content;
use crate::packing::covering::{Column, cover};
use crate::reading::demand::Demand;
use crate::solving::pod_rows::PodRows;
use crate::solving::rounds::Placed;
use crate::solving::solver::Solver;
use crate::units::{self, Amounts};

/// Most classes that are compared with each other; more are taken for one component, whose bound is
/// lower and as true.
const COMPARED_MAX: usize = 64;

/// Most resources that are priced; the rest count for nothing, which keeps the bound valid.
const RESOURCES_MAX: usize = 8;

/// Classes that could share nodes, directly or by way of others, each with how many pods, and what
/// they ask for together.
#[derive(Default)]
struct Component {
    classes: Vec<(usize, i64)>,
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
            let mut joined = Component { classes: vec![(class, count)], requests: Amounts::new() };
            units::add(&mut joined.requests, &self.base.classes[class].requests, count);
            let meets = |component: &mut Component| {
                let mut classes = component.classes.iter();
                !are_compared || classes.any(|(other, _)| self.can_share(class, *other))
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
        let requests = &component.requests;
        let resources: Vec<usize> =
            (0..requests.len()).filter(|row| requests[*row] > 0).take(RESOURCES_MAX).collect();
        let pod_rows = PodRows::of(self, &component.classes);
        let mut wanted: Vec<i64> = resources.iter().map(|row| requests[*row]).collect();
        wanted.extend(pod_rows.wanted());
        let mut offered: Vec<(u64, Vec<i64>)> = Vec::with_capacity(instance_types.len());
        for (index, price_micros) in instance_types {
            let free = &self.base.instance_types.all[index].free;
            let mut amounts: Vec<i64> = Vec::with_capacity(wanted.len());
            amounts.extend(resources.iter().map(|row| units::at(free, *row).max(0)));
            pod_rows.offer(index, free, &mut amounts);
            offered.push((price_micros, amounts));
        }
        // Zones mostly sell an instance type at one price, so that few of so many differ.
        offered.sort_unstable();
        offered.dedup();
        let columns: Vec<Column<'_>> = offered
            .iter()
            .map(|(cost_micros, amounts)| Column { cost_micros: *cost_micros, amounts })
            .collect();
        let bound_micros = cover(&columns, &wanted).map_or(0, |cover| cover.bound_micros);
        bound_micros.max(cheapest.unwrap_or(0))
    }

    /// Every instance type that could serve some of a component, at the least it could cost.
    fn instance_types_for(&self, component: &Component) -> Vec<(usize, u64)> {
        let classes = component.classes.iter();
        let ways = classes.flat_map(|(class, _)| &self.base.classes[*class].variants);
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
