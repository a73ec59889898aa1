//! What is left to do for new nodes when pods were taken back.
//!
//! Pods may be taken off nodes of a heavy pool because their spread cannot be held. What they leave
//! belongs to pods of lighter pools that can use it: a heavier pool is filled first.

use crate::packing::bin::{Bin, Content};
use crate::packing::item::Item;
use crate::reading::group::{GroupId, Rule};
use crate::solving::solver::Solver;

impl Solver<'_> {
    /// Drops nodes for which nobody is left.
    pub(crate) fn drop_empty(&mut self, bins: &mut Vec<Bin>) {
        for bin in bins.iter().filter(|bin| bin.contents.is_empty()) {
            self.state.give_back_bin(bin, &self.base.instance_types);
        }
        bins.retain(|bin| !bin.contents.is_empty());
    }

    /// Moves pods from nodes of lighter pools to those of heavier ones that have headroom for them,
    /// new ones where limits leave some.
    pub(crate) fn fill_up(&mut self, bins: &mut Vec<Bin>) {
        // Nodes were filled for more pods than they have now.
        for bin in bins.iter_mut() {
            let contents = std::mem::take(&mut bin.contents);
            *bin = bin.with_contents(contents, &self.context());
        }
        let weights: &[u32] = &self.base.instance_types.weights;
        for (place, weight) in weights.iter().copied().enumerate().skip(1) {
            let before = self.free_items(weight, bins);
            let mut left = before.clone();
            for heavier in &weights[..place] {
                self.use_pools(Some(*heavier), &mut left, bins);
            }
            for mut moved in before {
                let stays = left.iter().find(|item| item.is_same(&moved));
                moved.count -= stays.map_or(0, |item| item.count);
                self.take_off(&moved, weight, bins);
            }
            self.drop_empty(bins);
        }
    }

    /// The pods on nodes of pools of one weight that may stand anywhere.
    fn free_items(&self, weight: u32, bins: &[Bin]) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        let contents = bins.iter().filter(|bin| self.has_weight(bin, weight));
        let contents = contents.flat_map(|bin| &bin.contents);
        for Content { item, count } in contents.filter(|content| self.is_free(&content.item)) {
            match items.iter_mut().find(|known| known.is_same(item)) {
                Some(known) => known.count += count,
                None => items.push(Item { count: *count, ..item.clone() }),
            }
        }
        items
    }

    /// Takes so many pods off the nodes of pools of one weight, the last nodes first.
    fn take_off(&self, moved: &Item, weight: u32, bins: &mut [Bin]) {
        let mut left = moved.count;
        for bin in bins.iter_mut().rev().filter(|bin| self.has_weight(bin, weight)) {
            let place = bin.contents.iter().position(|content| content.item.is_same(moved));
            let Some(place) = place.filter(|_| left > 0) else { continue };
            let mut contents = std::mem::take(&mut bin.contents);
            let gone = contents[place].count.min(left);
            contents[place].count -= gone;
            left -= gone;
            contents.retain(|content| content.count > 0);
            *bin = bin.with_contents(contents, &self.context());
        }
        debug_assert_eq!(left, 0, "those that moved stood there");
    }

    fn has_weight(&self, bin: &Bin, weight: u32) -> bool {
        self.base.instance_types.weight(bin.instance_type) == weight
    }

    /// Whether no rule about other pods says where pods of an item go.
    fn is_free(&self, item: &Item) -> bool {
        let class = &self.base.classes[item.class];
        let mut matched = class.matched.iter().map(|group| self.base.groups.get(group as GroupId));
        item.pins.is_empty()
            && class.variants[item.variant].groups.is_empty()
            && class.shape.host_ports.is_empty()
            && matched.all(|group| matches!(group.rule, Rule::Spread { .. }))
    }
}
