//! The cost below which no fleet can hold the pods that go to new nodes.
//!
//! Pods that can never share a node (one wants spot machines, the other any but those) cost at
//! least what each alone would cost at least, so the bounds of such companies are added. Within a
//! company machines may be bought in fractions, but one of them is needed whole.

use std::collections::BTreeMap;
use std::ptr;

use kerf_model::price::Price;

use crate::packing::bin::Content;
use crate::packing::worth::Worth;
use crate::reading::demand::Demand;
use crate::solving::rounds::Placed;
use crate::solving::solver::Solver;
use crate::units::{self, Amounts};

/// Most classes that are compared with each other; more are taken for one company, whose bound is
/// lower and as true.
const COMPARED_MAX: usize = 64;

/// Classes that could share nodes, directly or by way of others, and what they ask for together.
#[derive(Default)]
struct Company {
    classes: Vec<usize>,
    requests: Amounts,
}

impl Solver<'_> {
    /// The least that new nodes for these pods can cost, however they are chosen.
    pub(crate) fn lower_bound(&self, placed: &Placed) -> Price {
        let micros = self.companies(placed).into_iter().map(|company| self.least_micros(&company));
        Price::from_micros_per_hour(micros.fold(0, u64::saturating_add))
    }

    fn companies(&self, placed: &Placed) -> Vec<Company> {
        let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
        for Content { item, count } in placed.bins.iter().flat_map(|bin| &bin.contents) {
            *counts.entry(item.class).or_default() += count;
        }
        let are_compared = counts.len() <= COMPARED_MAX;
        let mut companies: Vec<Company> = Vec::new();
        for (class, count) in counts {
            let mut joined = Company { classes: vec![class], requests: Amounts::new() };
            units::add(&mut joined.requests, &self.base.classes[class].requests, count);
            let meets = |company: &mut Company| {
                let mut classes = company.classes.iter();
                !are_compared || classes.any(|other| self.can_share(class, *other))
            };
            for company in companies.extract_if(.., meets) {
                joined.classes.extend(company.classes);
                units::add(&mut joined.requests, &company.requests, 1);
            }
            companies.push(joined);
        }
        companies
    }

    /// Whether a node could suit pods of both classes.
    fn can_share(&self, one: usize, other: usize) -> bool {
        let classes = &self.base.classes;
        classes[one].variants.iter().any(|one| {
            let mut others = classes[other].variants.iter();
            others.any(|other| one.node.intersects(&other.node, &self.base.vocabulary))
        })
    }

    fn least_micros(&self, company: &Company) -> u64 {
        let machines = self.machines_for(company);
        let cheapest = machines.iter().map(|(_, price_micros)| *price_micros).min();
        let worth = Worth::of(&company.requests, machines.into_iter(), &self.world(), 0);
        worth.bound_micros().max(cheapest.unwrap_or(0))
    }

    /// Every machine that could serve some of a company, at the least it could cost.
    fn machines_for(&self, company: &Company) -> Vec<(usize, u64)> {
        let ways = company.classes.iter().flat_map(|class| &self.base.classes[*class].variants);
        let demands: Option<Vec<&Demand>> =
            ways.map(|way| self.demands.known(&way.node, &way.tolerated)).collect();
        let Some(mut demands) = demands else { return self.all_machines() };
        demands.sort_unstable_by_key(|demand| ptr::from_ref(*demand));
        demands.dedup_by_key(|demand| ptr::from_ref(*demand));
        let mut prices = vec![u64::MAX; self.base.machines.all.len()];
        for (machine, price_micros) in demands.into_iter().flat_map(|demand| &demand.priced) {
            let known = &mut prices[*machine as usize];
            *known = (*known).min(*price_micros);
        }
        prices
            .into_iter()
            .enumerate()
            .filter(|(_, price_micros)| *price_micros < u64::MAX)
            .collect()
    }

    fn all_machines(&self) -> Vec<(usize, u64)> {
        let machines = self.base.machines.all.iter().enumerate();
        let priced = machines
            .filter_map(|(index, machine)| Some((index, machine.offers.first()?.price_micros)));
        priced.collect()
    }
}
