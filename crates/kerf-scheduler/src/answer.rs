//! The solution in words.

use std::collections::BTreeMap;

use kerf_model::price::Price;
use kerf_model::requirement::Requirement;
use kerf_model::vocabulary::{KeyId, ValueSet};

use crate::bin::Bin;
use crate::rounds::Placed;
use crate::solution::{ExistingPlacement, NewNode, Solution, TypeOption, Unplaced, Without};
use crate::solver::Solver;
use crate::units::{self, Amounts};
use crate::worth::Worth;

/// Hands out the pods of each class, the oldest first.
struct Hand<'a> {
    pods: Vec<std::slice::Iter<'a, usize>>,
}

impl Hand<'_> {
    fn deal(&mut self, class: usize, count: i64) -> impl Iterator<Item = usize> {
        let count = usize::try_from(count).unwrap_or(0);
        self.pods[class].by_ref().take(count).copied()
    }
}

impl Solver<'_> {
    /// Says in words what was placed where, and which pods had to move.
    pub(crate) fn into_answer(self, placed: &Placed) -> Without {
        let solution = self.answer(placed);
        Without { displaced: self.displaced, solution }
    }

    fn answer(&self, placed: &Placed) -> Solution {
        let mut new_nodes = Vec::new();
        let mut price = Price::ZERO;
        let mut on_new_nodes = Amounts::new();
        let mut hand = Hand { pods: vec![[].iter(); self.base.classes.len()] };
        for (class, pods) in &self.members {
            hand.pods[*class] = pods.iter();
        }
        let mut existing: Vec<ExistingPlacement> = Vec::new();
        for index in self.nodes.changed() {
            let dealt = self.nodes.room(index).contents.iter().flat_map(|content| {
                hand.deal(content.item.class, content.count).collect::<Vec<_>>()
            });
            let mut pods: Vec<usize> = dealt.collect();
            pods.sort_unstable();
            if !pods.is_empty() {
                existing.push(ExistingPlacement { node: self.base.nodes[index].node, pods });
            }
        }
        existing.sort_by_key(|placement| placement.node);
        for bin in &placed.bins {
            let dealt = bin.contents.iter().flat_map(|content| {
                hand.deal(content.item.class, content.count).collect::<Vec<_>>()
            });
            let mut pods: Vec<usize> = dealt.collect();
            pods.sort_unstable();
            for content in &bin.contents {
                units::add(
                    &mut on_new_nodes,
                    &self.base.classes[content.item.class].requests,
                    content.count,
                );
            }
            let node = self.new_node(bin, pods);
            price = price
                .checked_add(node.options.first().map_or(Price::ZERO, |o| o.price))
                .unwrap_or(price);
            new_nodes.push(node);
        }
        let mut unplaced = Vec::new();
        let mut reasons: BTreeMap<(usize, usize), String> = BTreeMap::new();
        let mut hand_left: Vec<(usize, usize, Vec<usize>)> = Vec::new();
        for (class, variant, count) in &placed.unplaced {
            let pods = hand.deal(*class, *count).collect();
            hand_left.push((*class, *variant, pods));
        }
        for (class, variant, pods) in hand_left {
            let reason = reasons
                .entry((class, variant))
                .or_insert_with(|| self.why_not(class, variant))
                .clone();
            unplaced.extend(pods.into_iter().map(|pod| Unplaced { pod, reason: reason.clone() }));
        }
        unplaced.sort_by_key(|unplaced| unplaced.pod);
        let lower_bound = self.lower_bound(&on_new_nodes).min(price);
        Solution { existing, new_nodes, unplaced, price, lower_bound }
    }

    fn new_node(&self, bin: &Bin, pods: Vec<usize>) -> NewNode {
        let choices = bin.choices(&self.world());
        let mut requirements = bin.requirements.clone();
        if bin.reserved.is_some()
            && let Some(first) = choices.first()
        {
            let offer = &self.base.machines.all[first.machine].offers[first.offer];
            requirements.narrow(&offer.requirements, &self.base.vocabulary);
        }
        let relaxed = !bin.meets_min_values(&choices, &self.world());
        let pool = self.base.machines.templates[bin.template].pool;
        let types = &self.base.problem.pools[pool].instance_types;
        let mut names = ValueSet::new();
        for choice in &choices {
            let name = &types[self.base.machines.all[choice.machine].instance_type].name;
            if let Some(value) = self.base.vocabulary.find_value(KeyId::INSTANCE_TYPE, name) {
                names.insert(value);
            }
        }
        if !names.is_empty() {
            requirements
                .add(Requirement::one_of(KeyId::INSTANCE_TYPE, names), &self.base.vocabulary);
        }
        let mut requests = bin.requests.clone();
        if let Some(first) = choices.first() {
            units::add(&mut requests, &self.base.machines.all[first.machine].daemons.requests, 1);
        }
        let options = choices.iter().map(|choice| {
            let machine = &self.base.machines.all[choice.machine];
            TypeOption {
                instance_type: machine.instance_type,
                offering: machine.offers[choice.offer].offering,
                price: Price::from_micros_per_hour(choice.price_micros),
            }
        });
        NewNode {
            pool,
            options: options.collect(),
            requirements: requirements.to_entries(&self.base.vocabulary),
            pods,
            requests: self.base.units.to_list(&requests),
            min_values_relaxed: relaxed,
        }
    }

    /// The cost below which no fleet can hold so much.
    fn lower_bound(&self, on_new_nodes: &Amounts) -> Price {
        if on_new_nodes.is_empty() {
            return Price::ZERO;
        }
        let priced = self
            .base
            .machines
            .all
            .iter()
            .enumerate()
            .filter_map(|(index, machine)| Some((index, machine.offers.first()?.price_micros)));
        let worth = Worth::of(on_new_nodes, priced, &self.world(), 0);
        Price::from_micros_per_hour(worth.bound_micros())
    }
}
