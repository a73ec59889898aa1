//! The solution in words.

use std::collections::BTreeMap;

use kerf_model::price::Price;
use kerf_model::requirement::Requirement;
use kerf_model::vocabulary::{KeyId, ValueSet};

use crate::packing::bin::{Bin, Content};
use crate::solution::{ExistingPlacement, NewNode, Solution, TypeOption, Unplaced, WhatIf};
use crate::solving::rounds::Placed;
use crate::solving::solver::Solver;
use crate::units;

/// Hands out the pods of each class, the oldest first.
struct PodsByClass<'a> {
    pods: Vec<std::slice::Iter<'a, usize>>,
}

impl<'a> PodsByClass<'a> {
    fn of(solver: &'a Solver<'_>) -> Self {
        let mut pods = vec![[].iter(); solver.base.classes.len()];
        for (class, members) in &solver.members {
            pods[*class] = members.iter();
        }
        Self { pods }
    }

    fn take(&mut self, class: usize, count: i64) -> impl Iterator<Item = usize> {
        let count = usize::try_from(count).unwrap_or(0);
        self.pods[class].by_ref().take(count).copied()
    }

    /// The pods of a node, ascending.
    fn take_all(&mut self, contents: &[Content]) -> Vec<usize> {
        let mut pods = Vec::new();
        for Content { item, count } in contents {
            pods.extend(self.take(item.class, *count));
        }
        pods.sort_unstable();
        pods
    }
}

impl Solver<'_> {
    /// Says in words what was placed where, and which pods had to move.
    pub(crate) fn into_answer(self, placed: &Placed) -> WhatIf {
        let by_class = &mut PodsByClass::of(&self);
        let existing = self.existing(by_class);
        let new_nodes = self.new_nodes(placed, by_class);
        let unplaced = self.unplaced(placed, by_class);
        let mut deferred = Vec::new();
        for (class, count) in placed.deferred.iter().copied() {
            deferred.extend(by_class.take(class, count));
        }
        deferred.sort_unstable();
        let cheapest = new_nodes.iter().filter_map(|node| node.options.first());
        let price =
            cheapest.fold(Price::ZERO, |sum, option| sum.checked_add(option.price).unwrap_or(sum));
        // Nobody asks for the bound of a what-if, of which there are thousands.
        let is_what_if = !self.displaced.is_empty();
        let lower_bound = if is_what_if { Price::ZERO } else { self.lower_bound(placed) };
        debug_assert!(lower_bound <= price, "no fleet is cheaper than {lower_bound}, ours {price}");
        let lower_bound = lower_bound.min(price);
        let solution = Solution { existing, new_nodes, unplaced, deferred, price, lower_bound };
        WhatIf { displaced: self.displaced, solution }
    }

    /// What was put onto nodes that exist, by their place in filling order.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (usize, Vec<Content>)> {
        let changed = self.nodes.changed().into_iter();
        changed.map(|index| (index, self.nodes.headroom(index).contents.clone()))
    }

    fn existing(&self, by_class: &mut PodsByClass<'_>) -> Vec<ExistingPlacement> {
        let mut existing: Vec<ExistingPlacement> = Vec::new();
        for index in self.nodes.changed() {
            let pods = by_class.take_all(&self.nodes.headroom(index).contents);
            if !pods.is_empty() {
                existing
                    .push(ExistingPlacement { node: self.base.cluster.nodes[index].place, pods });
            }
        }
        existing.sort_by_key(|placement| placement.node);
        existing
    }

    fn new_nodes(&self, placed: &Placed, by_class: &mut PodsByClass<'_>) -> Vec<NewNode> {
        let mut nodes: Vec<NewNode> = Vec::with_capacity(placed.bins.len());
        for (index, bin) in placed.bins.iter().enumerate() {
            let pods = by_class.take_all(&bin.contents);
            nodes.push(match Bin::like_the_last(&placed.bins, index) {
                Some(last) => NewNode { pods, ..nodes[last].clone() },
                None => self.new_node(bin, pods),
            });
        }
        nodes
    }

    fn unplaced(&self, placed: &Placed, by_class: &mut PodsByClass<'_>) -> Vec<Unplaced> {
        let mut reasons: BTreeMap<(usize, usize), String> = BTreeMap::new();
        let mut unplaced = Vec::new();
        for (class, variant, count) in placed.unplaced.iter().copied() {
            let reason = reasons.entry((class, variant));
            let reason = reason.or_insert_with(|| self.why_not(class, variant));
            let pods = by_class.take(class, count);
            unplaced.extend(pods.map(|pod| Unplaced { pod, reason: reason.clone() }));
        }
        unplaced.sort_by_key(|unplaced| unplaced.pod);
        unplaced
    }

    fn new_node(&self, bin: &Bin, pods: Vec<usize>) -> NewNode {
        let choices = bin.choices(&self.context());
        let mut requirements = bin.requirements.clone();
        if bin.reserved.is_some()
            && let Some(first) = choices.first()
        {
            let offering =
                &self.base.instance_types.all[first.instance_type].offerings[first.offering];
            requirements.narrow(&offering.requirements, &self.base.vocabulary);
        }
        let relaxed = !bin.meets_min_values(choices.iter().copied(), &self.context());
        let pool = self.base.instance_types.templates[bin.template].pool;
        let types = &self.base.problem.pools[pool].instance_types;
        let mut names = ValueSet::new();
        for choice in &choices {
            let name = &types[self.base.instance_types.all[choice.instance_type].type_index].name;
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
            units::add(
                &mut requests,
                &self.base.instance_types.all[first.instance_type].daemons.requests,
                1,
            );
        }
        let options = choices.iter().map(|choice| {
            let instance_type = &self.base.instance_types.all[choice.instance_type];
            TypeOption {
                instance_type: instance_type.type_index,
                offering: instance_type.offerings[choice.offering].index,
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
}
