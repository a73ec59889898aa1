//! Which instance types come into question for the hardest item left, the most promising first.

use crate::packing::item::Item;
use crate::packing::pack::{Order, Packer};
use crate::reading::group::Rule;
use crate::reading::instance_type::PoolOffering;
use crate::units::{self, Amounts};

/// Instance types that are filled to see which is best, at each step.
const CANDIDATES_MAX: usize = 6;
/// How far beyond the average share of a forced number of nodes an instance type may go, in
/// percent.
const SHARE_PERCENT: u128 = 125;

/// What an instance type costs, what its filled bin would be worth, which it is, and its price.
type Ranked = (u128, u128, usize, u64);

impl Packer<'_> {
    /// The instance types that hold an item, with their prices: those that also hold the pods that
    /// must follow it, if there are any.
    pub(crate) fn fitting(&self, hardest: usize) -> Vec<(usize, u64)> {
        let class = &self.context.classes[self.items[hardest].class];
        let mut with_followers = class.requests.clone();
        for (index, item) in self.items.iter().enumerate() {
            if self.followers[index] && self.left[index] > 0 && self.may_follow(item, hardest) {
                let asked = &self.context.classes[item.class].requests;
                units::add(&mut with_followers, asked, self.left[index]);
            }
        }
        let fitting = self.holding(hardest, &with_followers);
        if fitting.is_empty() && with_followers != class.requests {
            return self.holding(hardest, &class.requests);
        }
        fitting
    }

    /// Whether an item's pods may stand where those of another do, because they do.
    fn may_follow(&self, follower: &Item, leader: usize) -> bool {
        let leader = &self.context.classes[self.items[leader].class];
        let variant = &self.context.classes[follower.class].variants[follower.variant];
        let near = variant.groups.iter().filter(|group| {
            self.context.hosts.contains(**group)
                && self.context.groups.get(**group).rule == Rule::Affinity
        });
        near.clone().next().is_some() && near.into_iter().all(|group| leader.counts_in(*group))
    }

    /// The instance types that meet an item's demand and have so much, with their prices.
    fn holding(&self, hardest: usize, requests: &Amounts) -> Vec<(usize, u64)> {
        let item = &self.items[hardest];
        let demand = self.context.demands.get(item.demand);
        let fitting = demand.priced.iter().copied().filter(|(instance_type, _)| {
            let is_open = self.context.is_open(*instance_type as usize);
            let instance_type = &self.context.instance_types.all[*instance_type as usize];
            is_open
                && units::fits(requests, &instance_type.free)
                && self.state.allows(instance_type)
        });
        let priced = |(instance_type, price): (u32, u64)| {
            let instance_type = instance_type as usize;
            if self.state.reservations.is_empty() {
                return Some((instance_type, price));
            }
            self.offering_left(instance_type, item)
                .map(|offering| (instance_type, offering.price_micros))
        };
        fitting.filter_map(priced).collect()
    }

    /// Those of the instance types that are most likely to be filled cheaply.
    pub(crate) fn ranked(
        &self,
        instance_types: impl Iterator<Item = (usize, u64)>,
    ) -> Vec<(usize, u64)> {
        let remaining = (&self.remaining, self.dual_prices.value(&self.remaining));
        let share = self.share(remaining.1);
        let mut ranked: Vec<Ranked> = instance_types
            .map(|(instance_type, price)| {
                let free = &self.context.instance_types.all[instance_type].free;
                let filled = (free, self.type_values[instance_type]);
                let value = match self.by {
                    Order::ByDualPrice | Order::ByCpu => {
                        u128::from(self.dual_prices.value_of_smaller(filled, remaining))
                    }
                    Order::Blended => self.blended_value(instance_type, remaining.1),
                };
                let value = value.max(1);
                (u128::from(price + self.overhead_micros).max(1), value, instance_type, price)
            })
            .collect();
        if let Some(share) = share {
            let least = ranked.iter().map(|(_, value, ..)| *value).min().unwrap_or(0);
            let most = share.max(least);
            ranked.retain(|(_, value, ..)| *value <= most);
        }
        let by_promise = |a: &Ranked, b: &Ranked| {
            (a.0 * b.1).cmp(&(b.0 * a.1)).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2))
        };
        if ranked.len() > CANDIDATES_MAX {
            // Only the first few are wanted: no need to sort the hundreds behind them.
            ranked.select_nth_unstable_by(CANDIDATES_MAX, by_promise);
            ranked.truncate(CANDIDATES_MAX);
        }
        ranked.sort_unstable_by(by_promise);
        ranked.into_iter().map(|(_, _, instance_type, price)| (instance_type, price)).collect()
    }

    /// What an instance type's part of all that is left is worth.
    fn blended_value(&self, instance_type: usize, all: u64) -> u128 {
        let (part, whole) = self.part_held(instance_type);
        u128::from(all) * part.unsigned_abs() / whole.unsigned_abs()
    }

    /// How much of all that is left an instance type holds when it gets the same part of every
    /// item, as a part of a whole.
    pub(crate) fn part_held(&self, instance_type: usize) -> (i128, i128) {
        let free = &self.context.instance_types.all[instance_type].free;
        let wanted = self.remaining.iter().enumerate().filter(|(_, wanted)| **wanted > 0);
        let parts = wanted.map(|(resource, wanted)| {
            let free = free.get(resource).copied().unwrap_or(0).max(0);
            (i128::from(free.min(*wanted)), i128::from(*wanted))
        });
        parts.min_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap_or((1, 1))
    }

    /// The cheapest offering of an instance type for an item, used-up reservations left out.
    pub(crate) fn offering_left(&self, instance_type: usize, item: &Item) -> Option<&PoolOffering> {
        let instance_type = &self.context.instance_types.all[instance_type];
        let mut node =
            self.context.instance_types.templates[instance_type.template].requirements.clone();
        node.narrow(&self.context.demands.get(item.demand).requirements, self.context.vocabulary);
        instance_type.cheapest_left(&node, &self.state.reservations, self.context.vocabulary)
    }

    /// What a node should hold at most, where a rule forces many nodes anyway. `all` is what the
    /// pods left are worth.
    fn share(&self, all: u64) -> Option<u128> {
        let forced = self.forced.as_ref().filter(|forced| forced.pods_left > 0)?;
        let nodes = forced.nodes();
        let all = u128::from(all);
        Some(all * SHARE_PERCENT / 100 / u128::try_from(nodes).unwrap_or(1).max(1))
    }
}
