//! Packing items onto new nodes, cheaply.
//!
//! The hardest item left decides which machines come into question. Each promising machine is
//! filled, hardest items first, and the filling that costs least for what it holds is repeated as
//! often as the items allow. What a filling holds is measured in the worth of its resources, so a
//! machine whose memory lies idle is as dear as it really is.

use std::cmp::Reverse;

use crate::bin::Bin;
use crate::group::{GroupId, Rule};
use crate::improve::improve;
use crate::item::{Item, World};
use crate::machine::{Machine, Machines, Offer};
use crate::units::{self, Amounts};
use crate::worth::Worth;

/// Machines that are filled to see which is best, at each step.
const CANDIDATES_MAX: usize = 6;
/// How far beyond the average share of a forced number of nodes a machine may go, in percent.
const SHARE_PERCENT: u128 = 125;

/// What changes while packing.
#[derive(Clone, Debug)]
pub(crate) struct PackState {
    /// What the limits of each template leave.
    pub(crate) limits: Vec<Vec<(usize, i64)>>,
    pub(crate) nodes_left: Vec<Option<i64>>,
    /// What is left of each reservation.
    pub(crate) reservations: Vec<u32>,
    /// Of each group whether a matching pod stands anywhere.
    pub(crate) started: Vec<bool>,
}

impl PackState {
    /// Nothing is taken yet, and nobody stands anywhere.
    pub(crate) fn new(machines: &Machines, groups: usize) -> Self {
        let templates = machines.templates.iter();
        Self {
            limits: templates.clone().map(|template| template.limits.clone()).collect(),
            nodes_left: templates.map(|template| template.nodes_left).collect(),
            reservations: machines.reservations.iter().map(|(_, left)| *left).collect(),
            started: vec![false; groups],
        }
    }

    /// Returns what a node of such a capacity takes of a template's limits.
    pub(crate) fn give_back(&mut self, template: usize, capacity: &Amounts) {
        if let Some(left) = &mut self.nodes_left[template] {
            *left += 1;
        }
        for (resource, left) in &mut self.limits[template] {
            *left += capacity.get(*resource).copied().unwrap_or(0);
        }
    }

    /// Whether the limits of its pool leave room for one more of a machine.
    pub(crate) fn allows(&self, machine: &Machine) -> bool {
        let at = |index: usize| machine.capacity.get(index).copied().unwrap_or(0);
        self.nodes_left[machine.template].is_none_or(|left| left > 0)
            && self.limits[machine.template].iter().all(|(index, left)| at(*index) <= *left)
    }

    /// How many more of a machine the limits of its pool leave room for.
    fn times_allowed(&self, machine: &Machine) -> i64 {
        let by_count = self.nodes_left[machine.template].unwrap_or(i64::MAX);
        let by_amount = self.limits[machine.template].iter().filter_map(|(index, left)| {
            let one = machine.capacity.get(*index).copied().unwrap_or(0);
            (one > 0).then(|| left / one)
        });
        by_amount.min().unwrap_or(i64::MAX).min(by_count)
    }
}

/// A fleet for a list of items.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    pub(crate) bins: Vec<Bin>,
    /// How many pods of each item found no place.
    pub(crate) left: Vec<i64>,
    pub(crate) state: PackState,
    /// The price of each node: that of its cheapest choice.
    pub(crate) prices: Vec<u64>,
    /// How many machines were filled to find it.
    pub(crate) fillings: u32,
}

struct Packer<'a> {
    world: World<'a>,
    items: &'a [Item],
    /// Items, hardest first; those that must follow others to their node come last.
    order: Vec<usize>,
    /// Of each item whether it must follow others to their node.
    followers: Vec<bool>,
    left: Vec<i64>,
    remaining: Amounts,
    worth: Worth,
    /// What each machine that comes into question is worth when it is filled.
    machine_values: Vec<u64>,
    state: PackState,
    overhead_micros: u64,
    /// A rule that forces many nodes, and its items, hardest first.
    forced: Option<Forced>,
    /// The least any item left asks for, by resource, and of how many items.
    least: Amounts,
    least_of: usize,
    bins: Vec<Bin>,
    fillings: u32,
}

/// A machine filled with items, and how many of each.
struct Filling {
    bin: Bin,
    held: Vec<(usize, i64)>,
}

/// A rule under which each node takes only a few of some pods.
struct Forced {
    group: GroupId,
    per_node: i64,
    pods_left: i64,
    items: Vec<usize>,
    /// Of each item whether it is one of those.
    is_forced: Vec<bool>,
}

/// Which item counts as the hardest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The one whose pods are worth most.
    ByWorth,
    /// The one whose pods ask for most CPU, then memory.
    ByCpu,
}

impl Packing {
    /// What all nodes cost together.
    pub(crate) fn price_micros(&self) -> u64 {
        self.prices.iter().sum()
    }
}

/// Packs items onto new nodes, counting `overhead_micros` on top of each node's price.
pub(crate) fn pack(
    world: World<'_>,
    items: &[Item],
    state: &PackState,
    overhead_micros: u64,
    by: Order,
) -> Packing {
    let mut remaining = Amounts::new();
    for item in items {
        units::add(&mut remaining, &world.classes[item.class].requests, item.count);
    }
    let worth = Worth::of(&remaining, offered_to(items, &world), &world, overhead_micros);
    let mut machine_values = vec![0; world.machines.all.len()];
    for (machine, _) in offered_to(items, &world) {
        machine_values[machine] = worth.value(&world.machines.all[machine].free);
    }
    let followers: Vec<bool> = items.iter().map(|item| follows(item, &world)).collect();
    let hardness = |index: &usize| {
        let requests = &world.classes[items[*index].class].requests;
        let at = |resource| requests.get(resource).copied().unwrap_or(0);
        match by {
            Order::ByWorth => (worth.value(requests), 0),
            Order::ByCpu => (u64::try_from(at(0)).unwrap_or(0), at(1)),
        }
    };
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_cached_key(|index| (followers[*index], Reverse(hardness(index)), *index));
    let mut packer = Packer {
        world,
        items,
        forced: forced(items, &order, &world),
        order,
        followers,
        left: items.iter().map(|item| item.count).collect(),
        remaining,
        worth,
        machine_values,
        state: state.clone(),
        overhead_micros,
        least: Amounts::new(),
        least_of: usize::MAX / 8,
        bins: Vec::new(),
        fillings: 0,
    };
    packer.run();
    packer.settle_followers();
    let Packer { bins, left, state, fillings, .. } = packer;
    let mut packing = Packing { bins, left, state, prices: Vec::new(), fillings };
    improve(&mut packing, &world);
    packing.prices = prices(&packing.bins, &world);
    packing
}

/// The price of each node. Those that were filled alike stand side by side.
fn prices(bins: &[Bin], world: &World<'_>) -> Vec<u64> {
    let mut prices: Vec<u64> = Vec::new();
    for (index, bin) in bins.iter().enumerate() {
        let like_the_last = index.checked_sub(1).filter(|last| bins[*last].is_like(bin));
        let price = like_the_last.map_or_else(|| bin.price_micros(world), |last| prices[last]);
        prices.push(price);
    }
    prices
}

/// Every machine some item could use, with its cheapest price.
fn offered_to<'a>(
    items: &'a [Item],
    world: &'a World<'a>,
) -> impl Iterator<Item = (usize, u64)> + 'a {
    let mut demands: Vec<usize> = items.iter().map(|item| item.demand).collect();
    demands.sort_unstable();
    demands.dedup();
    let priced = demands.into_iter().flat_map(|demand| world.demands.get(demand).priced.iter());
    priced.map(|(machine, price)| (*machine as usize, *price))
}

/// Whether an item's pods can only stand on a node where others stand already.
fn follows(item: &Item, world: &World<'_>) -> bool {
    let class = &world.classes[item.class];
    class.variants[item.variant].groups.iter().any(|group| {
        world.hosts.contains(*group)
            && world.groups.get(*group).rule == Rule::Near
            && !class.counts_in(*group)
    })
}

/// The rule that forces the most nodes, if it forces more than one.
fn forced(items: &[Item], order: &[usize], world: &World<'_>) -> Option<Forced> {
    let mut worst: Option<Forced> = None;
    for group in world.hosts.all.iter().copied() {
        let per_node = match world.groups.get(group).rule {
            Rule::Spread { max_skew, .. } => i64::from(max_skew),
            Rule::Apart => 1,
            Rule::Near => continue,
        };
        let is_bound = |index: &usize| {
            let item = &items[*index];
            let class = &world.classes[item.class];
            class.counts_in(group) && class.variants[item.variant].groups.contains(&group)
        };
        let bound: Vec<usize> = order.iter().copied().filter(is_bound).collect();
        let pods_left: i64 = bound.iter().map(|index| items[*index].count).sum();
        let nodes = Forced::nodes;
        let mut is_forced = vec![false; items.len()];
        bound.iter().for_each(|index| is_forced[*index] = true);
        let candidate = Forced { group, per_node, pods_left, items: bound, is_forced };
        if nodes(&candidate) > worst.as_ref().map_or(1, nodes) {
            worst = Some(candidate);
        }
    }
    worst
}

impl Forced {
    /// The fewest nodes the rule allows.
    fn nodes(&self) -> i64 {
        let per_node = self.per_node.max(1);
        (self.pods_left + per_node - 1) / per_node
    }
}

impl Packer<'_> {
    fn run(&mut self) {
        self.drop_done(None);
        while let Some(hardest) = self.order.first().copied() {
            match self.best_filling(hardest) {
                Some(filling) => {
                    self.take(filling);
                    self.drop_done(None);
                }
                // Nothing holds it any more: its pods stay without a place.
                None => self.drop_done(Some(hardest)),
            }
        }
    }

    /// Drops items of which nothing is left, and one that cannot be placed, from the order.
    fn drop_done(&mut self, hopeless: Option<usize>) {
        let left = &self.left;
        let stays = |index: &usize| left[*index] > 0 && Some(*index) != hopeless;
        self.order.retain(stays);
        if let Some(forced) = &mut self.forced {
            forced.items.retain(stays);
        }
        // Fewer items ask for no less, so an old answer errs on the safe side.
        if self.order.len() * 8 > self.least_of * 7 {
            return;
        }
        self.least_of = self.order.len();
        self.least.clear();
        for (place, index) in self.order.iter().enumerate() {
            let asked = &self.world.classes[self.items[*index].class].requests;
            if place == 0 {
                self.least.clone_from(asked);
            }
            self.least.truncate(asked.len());
            for (least, asked) in self.least.iter_mut().zip(asked) {
                *least = (*least).min(*asked);
            }
        }
    }

    /// The filling that costs least for what it holds. Pools are tried in the order of their
    /// weights; pools of one weight compete by price.
    fn best_filling(&mut self, hardest: usize) -> Option<Filling> {
        let fitting = self.fitting(hardest);
        let templates = &self.world.machines.templates;
        let weight = |machine: usize| templates[self.world.machines.all[machine].template].weight;
        let mut weights: Vec<u32> = fitting.iter().map(|(machine, _)| weight(*machine)).collect();
        weights.sort_unstable_by_key(|weight| Reverse(*weight));
        weights.dedup();
        weights.into_iter().find_map(|tier| {
            let of_tier = fitting.iter().copied().filter(|(machine, _)| weight(*machine) == tier);
            let candidates = self.ranked(of_tier);
            self.best_of(candidates, hardest)
        })
    }

    /// The best of some machines, filled.
    fn best_of(&mut self, candidates: Vec<(usize, u64)>, hardest: usize) -> Option<Filling> {
        let mut best: Option<(u128, u128, Filling)> = None;
        for (machine, price_micros) in candidates {
            self.fillings += 1;
            let filling = self.fill(machine, hardest);
            let reserves = !self.state.reservations.is_empty();
            if filling.held.is_empty() || (reserves && filling.bin.choices(&self.world).is_empty())
            {
                continue;
            }
            let cost = u128::from(price_micros + self.overhead_micros).max(1);
            let value = u128::from(self.worth.value(&filling.bin.requests)).max(1);
            let better = best
                .as_ref()
                .is_none_or(|(best_cost, best_value, _)| cost * best_value < best_cost * value);
            if better {
                best = Some((cost, value, filling));
            }
        }
        best.map(|(_, _, filling)| filling)
    }

    /// The machines that hold an item, with their prices: those that also hold the pods that must
    /// follow it, if there are any.
    fn fitting(&self, hardest: usize) -> Vec<(usize, u64)> {
        let class = &self.world.classes[self.items[hardest].class];
        let mut with_company = class.requests.clone();
        for (index, item) in self.items.iter().enumerate() {
            if self.followers[index] && self.left[index] > 0 && self.may_follow(item, hardest) {
                let asked = &self.world.classes[item.class].requests;
                units::add(&mut with_company, asked, self.left[index]);
            }
        }
        let fitting = self.holding(hardest, &with_company);
        if fitting.is_empty() && with_company != class.requests {
            return self.holding(hardest, &class.requests);
        }
        fitting
    }

    /// Whether an item's pods may stand where those of another do, because they do.
    fn may_follow(&self, follower: &Item, leader: usize) -> bool {
        let leader = &self.world.classes[self.items[leader].class];
        let variant = &self.world.classes[follower.class].variants[follower.variant];
        let near = variant.groups.iter().filter(|group| {
            self.world.hosts.contains(**group) && self.world.groups.get(**group).rule == Rule::Near
        });
        near.clone().next().is_some() && near.into_iter().all(|group| leader.counts_in(*group))
    }

    /// The machines that meet an item's demand and have so much, with their prices.
    fn holding(&self, hardest: usize, requests: &Amounts) -> Vec<(usize, u64)> {
        let item = &self.items[hardest];
        let demand = self.world.demands.get(item.demand);
        let fitting = demand.priced.iter().copied().filter(|(machine, _)| {
            let machine = &self.world.machines.all[*machine as usize];
            units::fits(requests, &machine.free) && self.state.allows(machine)
        });
        let priced = |(machine, price): (u32, u64)| {
            let machine = machine as usize;
            if self.state.reservations.is_empty() {
                return Some((machine, price));
            }
            self.offer_left(machine, item).map(|offer| (machine, offer.price_micros))
        };
        fitting.filter_map(priced).collect()
    }

    /// Those of the machines that are most likely to be filled cheaply.
    fn ranked(&self, machines: impl Iterator<Item = (usize, u64)>) -> Vec<(usize, u64)> {
        let remaining = (&self.remaining, self.worth.value(&self.remaining));
        let share = self.share(remaining.1);
        let mut ranked: Vec<(u128, u128, usize, u64)> = machines
            .map(|(machine, price)| {
                let free = &self.world.machines.all[machine].free;
                let filled = (free, self.machine_values[machine]);
                let value = u128::from(self.worth.value_of_smaller(filled, remaining)).max(1);
                (u128::from(price + self.overhead_micros).max(1), value, machine, price)
            })
            .collect();
        if let Some(share) = share {
            let least = ranked.iter().map(|(_, value, ..)| *value).min().unwrap_or(0);
            let most = share.max(least);
            ranked.retain(|(_, value, ..)| *value <= most);
        }
        ranked
            .sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
        ranked.truncate(CANDIDATES_MAX);
        ranked.into_iter().map(|(_, _, machine, price)| (machine, price)).collect()
    }

    /// The cheapest offer of a machine for an item, used-up reservations left out.
    fn offer_left(&self, machine: usize, item: &Item) -> Option<&Offer> {
        let machine = &self.world.machines.all[machine];
        let mut node = self.world.machines.templates[machine.template].requirements.clone();
        node.narrow(&self.world.demands.get(item.demand).requirements, self.world.vocabulary);
        machine.cheapest_left(&node, &self.state.reservations, self.world.vocabulary)
    }

    /// What a node should hold at most, where a rule forces many nodes anyway. `all` is what the pods
    /// left are worth.
    fn share(&self, all: u64) -> Option<u128> {
        let forced = self.forced.as_ref().filter(|forced| forced.pods_left > 0)?;
        let nodes = forced.nodes();
        let all = u128::from(all);
        Some(all * SHARE_PERCENT / 100 / u128::try_from(nodes).unwrap_or(1).max(1))
    }

    /// Fills a machine: the hardest item, then those that are forced apart, then the rest.
    fn fill(&self, machine: usize, hardest: usize) -> Filling {
        let mut bin = Bin::empty(machine, &self.world);
        if !self.state.reservations.is_empty() {
            let offer = self.offer_left(machine, &self.items[hardest]);
            bin.reserved = offer.and_then(|offer| offer.reservation);
        }
        let mut filling = Filling { bin, held: Vec::new() };
        self.put(&mut filling, hardest);
        if filling.held.is_empty() {
            return filling;
        }
        let forced = self.forced.as_ref();
        for index in forced.iter().flat_map(|forced| &forced.items).copied() {
            if index != hardest {
                self.put(&mut filling, index);
            }
        }
        let was_put =
            |index: usize| index == hardest || forced.is_some_and(|forced| forced.is_forced[index]);
        let first_follower = self.order.partition_point(|index| !self.followers[*index]);
        let (rest, followers) = self.order.split_at(first_follower);
        for index in followers.iter().chain(rest).copied() {
            if !was_put(index) && !self.put(&mut filling, index) {
                break;
            }
        }
        filling
    }

    /// Puts as many pods of an item as fit; answers whether anything at all could still fit.
    fn put(&self, filling: &mut Filling, index: usize) -> bool {
        let item = &self.items[index];
        let room = filling.bin.room(item, &self.world, &self.state.started, self.left[index]);
        if room == 0 {
            return true;
        }
        filling.bin.add_new(item, &self.world, room);
        filling.held.push((index, room));
        self.least.iter().zip(&filling.bin.free).all(|(least, free)| least <= free)
    }

    /// Gives pods that must follow others the slack of the nodes those stand on.
    fn settle_followers(&mut self) {
        for index in (0..self.items.len()).filter(|index| self.followers[*index]) {
            for bin in &mut self.bins {
                let (item, left) = (&self.items[index], self.left[index]);
                let room = bin.room(item, &self.world, &self.state.started, left);
                if room > 0 {
                    bin.add(item, &self.world, room);
                    self.left[index] -= room;
                }
            }
        }
    }

    /// Adds a filling as often as the items allow.
    fn take(&mut self, filling: Filling) {
        let Filling { bin, held } = filling;
        let times = held.iter().map(|(index, count)| self.left[*index] / count).min().unwrap_or(1);
        let times = times.min(self.state.times_allowed(&self.world.machines.all[bin.machine]));
        let times = if self.must_be_single(&bin) { 1 } else { times.max(1) };
        for (index, count) in &held {
            self.left[*index] -= count * times;
            let item = &self.items[*index];
            let class = &self.world.classes[item.class];
            units::subtract(&mut self.remaining, &class.requests, count * times);
            for group in &class.matched_hosts {
                self.state.started[*group] = true;
            }
            if let Some(forced) = &mut self.forced
                && class.counts_in(forced.group)
                && class.variants[item.variant].groups.contains(&forced.group)
            {
                forced.pods_left -= count * times;
            }
        }
        let machine = &self.world.machines.all[bin.machine];
        let (template, capacity) = (machine.template, machine.capacity.clone());
        if let Some(left) = &mut self.state.nodes_left[template] {
            *left -= times;
        }
        for (index, left) in &mut self.state.limits[template] {
            *left -= capacity.get(*index).copied().unwrap_or(0) * times;
        }
        if let Some(reservation) = bin.reserved {
            self.state.reservations[reservation] -= 1;
        }
        for _ in 1..times {
            self.bins.push(bin.clone());
        }
        self.bins.push(bin);
    }

    /// Whether taking the filling changes what the next may hold.
    fn must_be_single(&self, bin: &Bin) -> bool {
        let near = |group: &GroupId| {
            self.world.hosts.contains(*group) && self.world.groups.get(*group).rule == Rule::Near
        };
        bin.reserved.is_some()
            || bin.contents.iter().any(|content| {
                let variant =
                    &self.world.classes[content.item.class].variants[content.item.variant];
                variant.groups.iter().any(near)
            })
    }
}
