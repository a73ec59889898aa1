//! Placing everything, preference by preference.

use crate::packing::bin::{Bin, Content};
use crate::packing::item::Item;
use crate::reading::class::{Class, Variant};
use crate::residual::Onto;
use crate::solving::assign::Ban;
use crate::solving::solver::Solver;
use crate::units;

/// Rounds after which what is left stays without a place. Each round either places pods, bans a
/// domain or gives up a preference, so this is reached only where thousands of preferences fail one
/// by one.
const ROUNDS_MAX: usize = 512;

/// Pods still to be placed.
#[derive(Clone, Debug)]
struct Pending {
    class: usize,
    variant: usize,
    count: i64,
}

/// What came of it.
pub(crate) struct Placed {
    pub(crate) bins: Vec<Bin>,
    /// Pods without a place: class, the way tried last, count.
    pub(crate) unplaced: Vec<(usize, usize, i64)>,
    /// Pods that were not looked at before the effort was spent: class, count.
    pub(crate) deferred: Vec<(usize, i64)>,
}

impl Placed {
    /// How many pods have no place.
    pub(crate) fn unplaced_count(&self) -> i64 {
        self.unplaced.iter().map(|(_, _, count)| count).sum()
    }
}

impl Solver<'_> {
    /// Places every pod that can be placed, those of some classes before the others.
    pub(crate) fn place_all(&mut self, first: &[usize]) -> Placed {
        let mut placed = Placed { bins: Vec::new(), unplaced: Vec::new(), deferred: Vec::new() };
        let mut bans: Vec<Ban> = Vec::new();
        let mut pending = self.all_pending(first, &mut placed);
        for _ in 0..ROUNDS_MAX {
            if pending.is_empty() || self.limits.are_reached() {
                break;
            }
            pending = self.round(pending, &mut bans, &mut placed);
        }
        if self.limits.are_reached() {
            placed.deferred.extend(pending.iter().map(|left| (left.class, left.count)));
        } else {
            let left = pending.iter().map(|left| (left.class, left.variant, left.count));
            placed.unplaced.extend(left);
        }
        // Taking a pod back may leave another without its neighbour, or a domain emptier than
        // others can bear; each turn takes at least one back, so this ends.
        let mut is_repaired = false;
        while self.repair_spreads(&mut placed) || self.repair_affinity(&mut placed) {
            is_repaired = true;
        }
        if is_repaired {
            self.fill_up(&mut placed.bins);
        }
        placed
    }

    /// The classes of which pods have no place although an instance type or a node could hold them.
    pub(crate) fn left_out_by_order(&self, placed: &Placed) -> Vec<usize> {
        let could_stand = |class: &Class, variant: &Variant| {
            self.demands.known(&variant.node, &variant.tolerated).is_some_and(|demand| {
                let instance_types = demand.priced.iter().map(|(index, _)| *index as usize);
                let nodes = demand.nodes.iter().map(|index| index as usize);
                instance_types.into_iter().any(|index| {
                    units::fits(&class.requests, &self.base.instance_types.all[index].free)
                }) || nodes
                    .into_iter()
                    .any(|index| units::fits(&class.requests, self.nodes.free(index)))
            })
        };
        let mut classes: Vec<usize> = placed.unplaced.iter().map(|(class, ..)| *class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes.retain(|class| {
            let class = &self.base.classes[*class];
            !class.shape.has_resource_claims
                && class.variants.last().is_some_and(|last| could_stand(class, last))
        });
        classes
    }

    /// Every class once, the largest pods first, after those that shall go before all.
    fn all_pending(&self, first: &[usize], placed: &mut Placed) -> Vec<Pending> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        let size = |place: &usize| {
            let class = self.members[*place].0;
            let requests = &self.base.classes[class].requests;
            let at = |resource| std::cmp::Reverse(requests.get(resource).copied().unwrap_or(0));
            (!first.contains(&class), at(0), at(1), *place)
        };
        order.sort_by_key(size);
        let mut pending = Vec::new();
        for (class, pods) in order.into_iter().map(|place| &self.members[place]) {
            let (class, read) = (*class, &self.base.classes[*class]);
            let count = i64::try_from(pods.len()).expect("fewer than 2⁶³ pods");
            if read.variants.is_empty() || read.shape.has_resource_claims {
                placed.unplaced.push((class, 0, count));
            } else {
                pending.push(Pending { class, variant: 0, count });
            }
        }
        pending
    }

    /// Tries to place what is pending and answers with what is to be tried next.
    fn round(
        &mut self,
        pending: Vec<Pending>,
        bans: &mut Vec<Ban>,
        placed: &mut Placed,
    ) -> Vec<Pending> {
        let mut next = Vec::new();
        let (mut items, unassigned) = self.assign_all(pending, bans);
        for Pending { class, variant, count } in unassigned {
            match self.limits.is_stopped() {
                true => next.push(Pending { class, variant, count }),
                false => self.relax(class, variant, count, &mut next, placed),
            }
        }
        self.use_nodes(&mut items);
        let weights: &[u32] = &self.base.instance_types.weights;
        match weights {
            [] | [_] => self.use_pools(None, &mut items, &mut placed.bins),
            _ => weights.iter().for_each(|weight| {
                self.use_pools(Some(*weight), &mut items, &mut placed.bins);
            }),
        }
        for item in items.iter().filter(|item| item.count > 0) {
            let left = item.count;
            self.uncount(item.class, item.variant, &item.pins, left);
            if self.limits.are_reached() {
                let (class, variant) = (item.class, item.variant);
                next.push(Pending { class, variant, count: left });
                continue;
            }
            match item.pins.last() {
                // Another domain may still have headroom.
                Some((key, domain)) => {
                    bans.push((item.class, item.variant, *key, *domain));
                    let (class, variant) = (item.class, item.variant);
                    next.push(Pending { class, variant, count: left });
                }
                None => self.relax(item.class, item.variant, left, &mut next, placed),
            }
        }
        merged(next)
    }

    /// Binds pods for domains. Those that find none are asked again as long as others find one,
    /// because they may be waiting for them.
    fn assign_all(&mut self, mut pending: Vec<Pending>, bans: &[Ban]) -> (Vec<Item>, Vec<Pending>) {
        let mut items = Vec::new();
        loop {
            let mut unassigned = Vec::new();
            let found_before = items.len();
            for Pending { class, variant, count } in pending {
                if self.limits.is_stopped() {
                    unassigned.push(Pending { class, variant, count });
                    continue;
                }
                let (bound, left) = self.assign(class, variant, count, bans);
                items.extend(bound);
                if left > 0 {
                    unassigned.push(Pending { class, variant, count: left });
                }
            }
            if unassigned.is_empty() || items.len() == found_before {
                return (items, unassigned);
            }
            pending = unassigned;
        }
    }

    fn relax(
        &self,
        class: usize,
        variant: usize,
        count: i64,
        next: &mut Vec<Pending>,
        placed: &mut Placed,
    ) {
        if count == 0 {
            return;
        }
        if variant + 1 < self.base.classes[class].variants.len() {
            next.push(Pending { class, variant: variant + 1, count });
        } else {
            placed.unplaced.push((class, variant, count));
        }
    }

    /// Puts items onto nodes that exist, each onto the first nodes that have headroom.
    fn use_nodes(&mut self, items: &mut [Item]) {
        if self.onto == Onto::NewNodes {
            return;
        }
        let base = self.base;
        for item in items.iter_mut().take_while(|_| !self.limits.is_stopped()) {
            let class = &base.classes[item.class];
            let variant = &class.variants[item.variant];
            for index in self.demands.get(item.demand).nodes.iter().map(|index| index as usize) {
                // Most nodes are full, and what is left on them lies side by side.
                if !units::fits(&class.requests, self.nodes.free(index)) {
                    continue;
                }
                let headroom = self.nodes.headroom(index);
                let started = &self.state.started;
                let times = headroom.times(class, variant, &base.groups, &base.hosts, started);
                let count = times.min(item.count);
                if count > 0 {
                    self.nodes.headroom_mut(index).add(item, class, &base.hosts, count);
                    item.count -= count;
                    for group in &class.matched_hosts {
                        self.state.started[*group] = true;
                    }
                }
                if item.count == 0 {
                    break;
                }
            }
        }
    }

    /// Puts items onto nodes of pools of one weight, until these take no more: a lighter pool gets
    /// only what they cannot. A packing may leave limits and slack unused because it did without a
    /// node in the end, so it is repeated while that places anybody.
    pub(crate) fn use_pools(
        &mut self,
        weight: Option<u32>,
        items: &mut Vec<Item>,
        bins: &mut Vec<Bin>,
    ) {
        loop {
            self.use_bins(weight, items, bins);
            items.retain(|item| item.count > 0);
            if items.is_empty() || self.limits.are_reached() {
                return;
            }
            let packing = self.best_packing(items, weight);
            self.state = packing.state;
            for (item, left) in items.iter_mut().zip(packing.left) {
                item.count = left;
            }
            if packing.bins.is_empty() {
                return;
            }
            bins.extend(packing.bins);
        }
    }

    /// Puts items into the slack of nodes added before.
    fn use_bins(&mut self, weight: Option<u32>, items: &mut [Item], bins: &mut [Bin]) {
        let instance_types = &self.base.instance_types;
        let is_open = |bin: &Bin| {
            weight.is_none_or(|weight| instance_types.weight(bin.instance_type) == weight)
        };
        for bin in bins.iter_mut().filter(|bin| is_open(bin)) {
            for item in items.iter_mut().filter(|item| item.count > 0) {
                let context = self.context();
                let headroom = bin.headroom(item, &context, &self.state.started, item.count);
                if headroom > 0 {
                    bin.add(item, &context, headroom);
                    item.count -= headroom;
                }
            }
        }
    }

    /// Takes back pods whose spread holds no longer because others found no place; answers whether
    /// any were.
    fn repair_spreads(&mut self, placed: &mut Placed) -> bool {
        let unplaced_before = placed.unplaced.len();
        let mut bins = std::mem::take(&mut placed.bins);
        for bin in bins.iter_mut().rev() {
            self.repair_contents(&mut bin.contents, &mut placed.unplaced);
        }
        placed.bins = bins;
        self.drop_empty(&mut placed.bins);
        for index in self.nodes.changed().into_iter().rev() {
            let mut contents = std::mem::take(&mut self.nodes.headroom_mut(index).contents);
            self.repair_contents(&mut contents, &mut placed.unplaced);
            self.nodes.headroom_mut(index).contents = contents;
        }
        placed.unplaced.len() > unplaced_before
    }

    fn repair_contents(
        &mut self,
        contents: &mut Vec<Content>,
        unplaced: &mut Vec<(usize, usize, i64)>,
    ) {
        for Content { item, count } in contents.iter_mut().rev() {
            while *count > 0 && !self.stands_legally(item) {
                *count -= 1;
                self.uncount(item.class, item.variant, &item.pins, 1);
                unplaced.push((item.class, item.variant, 1));
            }
        }
        contents.retain(|content| content.count > 0);
    }

    /// Whether pods of an item may still stand in the domains they are bound for.
    fn stands_legally(&self, item: &Item) -> bool {
        let class = &self.base.classes[item.class];
        let variant = &class.variants[item.variant];
        item.pins.iter().all(|(key, domain)| {
            self.counts.holds_spreads(
                class,
                variant,
                &self.base.groups,
                *key,
                *domain,
                &self.base.vocabulary,
            )
        })
    }
}

/// Pods of one class and way together.
fn merged(mut pending: Vec<Pending>) -> Vec<Pending> {
    let mut merged: Vec<Pending> = Vec::new();
    for each in pending.drain(..) {
        let known = merged
            .iter_mut()
            .find(|known| (known.class, known.variant) == (each.class, each.variant));
        match known {
            Some(known) => known.count += each.count,
            None => merged.push(each),
        }
    }
    merged
}
