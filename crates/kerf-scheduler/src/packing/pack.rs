//! Packing items onto new nodes, cheaply.
//!
//! The hardest item left decides which instance types come into question. Each promising instance
//! type is filled, hardest items first, and the filled bin that costs least for what it holds is
//! repeated as often as the items allow. What a filled bin holds is measured in the worth of its
//! resources, so an instance type whose memory lies idle is as dear as it really is.

use std::cmp::Reverse;

use crate::packing::bin::Bin;
use crate::packing::dual_prices::DualPrices;
use crate::packing::filled_bin::FilledBin;
use crate::packing::forced::{Forced, forced};
use crate::packing::improve::improve;
use crate::packing::item::{Item, PackingContext};
use crate::packing::pack_state::PackState;
use crate::reading::group::{GroupId, Rule};
use crate::units::{self, Amounts};

/// A fleet for a list of items.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    pub(crate) bins: Vec<Bin>,
    /// How many pods of each item found no place.
    pub(crate) left: Vec<i64>,
    pub(crate) state: PackState,
    /// The price of each node: that of its cheapest choice.
    pub(crate) prices: Vec<u64>,
    /// How many instance types were filled to find it.
    pub(crate) bins_filled: u32,
}

/// A fleet in the making.
pub(crate) struct Packer<'a> {
    pub(crate) context: PackingContext<'a>,
    pub(crate) items: &'a [Item],
    /// Items, hardest first; those that must follow others to their node come last.
    pub(crate) order: Vec<usize>,
    /// Of each item whether it must follow others to their node.
    pub(crate) followers: Vec<bool>,
    pub(crate) left: Vec<i64>,
    pub(crate) remaining: Amounts,
    pub(crate) dual_prices: DualPrices,
    /// What each instance type that comes into question is worth when it is filled.
    pub(crate) type_values: Vec<u64>,
    pub(crate) state: PackState,
    pub(crate) overhead_micros: u64,
    pub(crate) by: Order,
    /// A rule that forces many nodes, and its items, hardest first.
    pub(crate) forced: Option<Forced>,
    /// The least any item left asks for, by resource, and of how many items.
    pub(crate) least: Amounts,
    least_of: usize,
    bins: Vec<Bin>,
    bins_filled: u32,
}

/// Which item counts as the hardest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The one whose pods are worth most at the dual prices.
    ByDualPrice,
    /// The one whose pods ask for most CPU, then memory.
    ByCpu,
    /// As by dual price; but every node gets some of everything that is left, as if pods were dealt out.
    Blended,
}

impl Packing {
    /// What all nodes cost together.
    pub(crate) fn price_micros(&self) -> u64 {
        self.prices.iter().sum()
    }
}

/// Packs items onto new nodes, counting `overhead_micros` on top of each node's price.
pub(crate) fn pack(
    context: PackingContext<'_>,
    items: &[Item],
    state: &PackState,
    overhead_micros: u64,
    by: Order,
) -> Packing {
    let mut remaining = Amounts::new();
    for item in items {
        units::add(&mut remaining, &context.classes[item.class].requests, item.count);
    }
    let dual_prices =
        DualPrices::of(&remaining, offered_to(items, &context), &context, overhead_micros);
    let mut type_values = vec![0; context.instance_types.all.len()];
    for (instance_type, _) in offered_to(items, &context) {
        type_values[instance_type] =
            dual_prices.value(&context.instance_types.all[instance_type].free);
    }
    let followers: Vec<bool> = items.iter().map(|item| follows(item, &context)).collect();
    let hardness = |index: &usize| {
        let requests = &context.classes[items[*index].class].requests;
        let at = |resource| requests.get(resource).copied().unwrap_or(0);
        match by {
            Order::ByDualPrice | Order::Blended => (dual_prices.value(requests), 0),
            Order::ByCpu => (u64::try_from(at(0)).unwrap_or(0), at(1)),
        }
    };
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_cached_key(|index| (followers[*index], Reverse(hardness(index)), *index));
    let mut packer = Packer {
        context,
        items,
        forced: forced(items, &order, &context),
        order,
        followers,
        left: items.iter().map(|item| item.count).collect(),
        remaining,
        dual_prices,
        type_values,
        state: state.clone(),
        overhead_micros,
        by,
        least: Amounts::new(),
        least_of: usize::MAX / 8,
        bins: Vec::new(),
        bins_filled: 0,
    };
    packer.run();
    packer.settle_followers();
    let Packer { bins, left, state, bins_filled, .. } = packer;
    let mut packing = Packing { bins, left, state, prices: Vec::new(), bins_filled };
    improve(&mut packing, &context);
    packing.prices = prices(&packing.bins, &context);
    packing
}

/// The price of each node.
pub(crate) fn prices(bins: &[Bin], context: &PackingContext<'_>) -> Vec<u64> {
    let mut prices: Vec<u64> = Vec::new();
    for (index, bin) in bins.iter().enumerate() {
        let price = match Bin::like_the_last(bins, index) {
            Some(last) => prices[last],
            None => bin.price_micros(context),
        };
        prices.push(price);
    }
    prices
}

/// Every instance type some item could use, with its cheapest price.
fn offered_to<'a>(
    items: &'a [Item],
    context: &'a PackingContext<'a>,
) -> impl Iterator<Item = (usize, u64)> + 'a {
    let mut demands: Vec<usize> = items.iter().map(|item| item.demand).collect();
    demands.sort_unstable();
    demands.dedup();
    let priced = demands.into_iter().flat_map(|demand| context.demands.get(demand).priced.iter());
    let priced = priced.map(|(instance_type, price)| (*instance_type as usize, *price));
    priced.filter(|(instance_type, _)| context.is_open(*instance_type))
}

/// Whether an item's pods can only stand on a node where others stand already.
pub(crate) fn follows(item: &Item, context: &PackingContext<'_>) -> bool {
    let class = &context.classes[item.class];
    class.variants[item.variant].groups.iter().any(|group| {
        context.hosts.contains(*group)
            && context.groups.get(*group).rule == Rule::Affinity
            && !class.counts_in(*group)
    })
}

impl Packer<'_> {
    fn run(&mut self) {
        self.drop_done(None);
        while let Some(hardest) = self.order.first().copied() {
            if self.context.limits.are_reached() {
                return;
            }
            match self.best_filled(hardest) {
                Some(filled) => {
                    self.take(filled);
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
            let asked = &self.context.classes[self.items[*index].class].requests;
            if place == 0 {
                self.least.clone_from(asked);
            }
            self.least.truncate(asked.len());
            for (least, asked) in self.least.iter_mut().zip(asked) {
                *least = (*least).min(*asked);
            }
        }
    }

    /// The filled bin that costs least for what it holds: of the most promising instance types, or
    /// of the others where none of those can be had.
    fn best_filled(&mut self, hardest: usize) -> Option<FilledBin> {
        let fitting = self.fitting(hardest);
        let promising = self.ranked(fitting.iter().copied());
        let is_promising = |it: &(usize, u64)| promising.iter().any(|(known, _)| *known == it.0);
        let others = fitting.iter().copied().filter(|it| !is_promising(it)).collect();
        self.best_of(promising, hardest).or_else(|| self.best_of(others, hardest))
    }

    /// The best of some instance types, filled.
    fn best_of(&mut self, candidates: Vec<(usize, u64)>, hardest: usize) -> Option<FilledBin> {
        let mut best: Option<(u128, u128, FilledBin)> = None;
        for (instance_type, price_micros) in candidates {
            self.bins_filled += 1;
            self.context.limits.spend_one();
            let filled = self.fill(instance_type, hardest);
            let reserves = !self.state.reservations.is_empty();
            if filled.held.is_empty() || (reserves && filled.bin.choices(&self.context).is_empty())
            {
                continue;
            }
            let cost = u128::from(price_micros + self.overhead_micros).max(1);
            let value = u128::from(self.dual_prices.value(&filled.bin.requests)).max(1);
            let better = best
                .as_ref()
                .is_none_or(|(best_cost, best_value, _)| cost * best_value < best_cost * value);
            if better {
                best = Some((cost, value, filled));
            }
        }
        best.map(|(_, _, filled)| filled)
    }

    /// Gives pods that must follow others the slack of the nodes those stand on.
    fn settle_followers(&mut self) {
        for index in (0..self.items.len()).filter(|index| self.followers[*index]) {
            for bin in &mut self.bins {
                let (item, left) = (&self.items[index], self.left[index]);
                let headroom = bin.headroom(item, &self.context, &self.state.started, left);
                if headroom > 0 {
                    bin.add(item, &self.context, headroom);
                    self.left[index] -= headroom;
                }
            }
        }
    }

    /// Adds a filled bin as often as the items allow.
    fn take(&mut self, filled: FilledBin) {
        let FilledBin { bin, held } = filled;
        let times = held.iter().map(|(index, count)| self.left[*index] / count).min().unwrap_or(1);
        let times = times
            .min(self.state.times_allowed(&self.context.instance_types.all[bin.instance_type]));
        let times = if self.must_be_single(&bin) { 1 } else { times.max(1) };
        for (index, count) in &held {
            self.left[*index] -= count * times;
            let item = &self.items[*index];
            let class = &self.context.classes[item.class];
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
        let instance_type = &self.context.instance_types.all[bin.instance_type];
        let (template, capacity) = (instance_type.template, instance_type.capacity.clone());
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

    /// Whether taking the filled bin changes what the next may hold.
    fn must_be_single(&self, bin: &Bin) -> bool {
        let near = |group: &GroupId| {
            self.context.hosts.contains(*group)
                && self.context.groups.get(*group).rule == Rule::Affinity
        };
        bin.reserved.is_some()
            || bin.contents.iter().any(|content| {
                let variant =
                    &self.context.classes[content.item.class].variants[content.item.variant];
                variant.groups.iter().any(near)
            })
    }
}
