//! Filling one instance type with what is left to be packed.

use crate::packing::bin::Bin;
use crate::packing::pack::{Order, Packer};

/// An instance type filled with items, and how many of each.
pub(crate) struct FilledBin {
    pub(crate) bin: Bin,
    pub(crate) held: Vec<(usize, i64)>,
}

impl Packer<'_> {
    /// Fills an instance type: the hardest item, then those that are forced apart, then the rest.
    pub(crate) fn fill(&self, instance_type: usize, hardest: usize) -> FilledBin {
        let mut bin = Bin::empty(instance_type, &self.context);
        if !self.state.reservations.is_empty() {
            let offering = self.offering_left(instance_type, &self.items[hardest]);
            bin.reserved = offering.and_then(|offering| offering.reservation);
        }
        let mut filled = FilledBin { bin, held: Vec::new() };
        if self.by == Order::Blended {
            self.blend(&mut filled, hardest);
            return filled;
        }
        self.put(&mut filled, hardest);
        if filled.held.is_empty() {
            return filled;
        }
        let forced = self.forced.as_ref();
        for index in forced.iter().flat_map(|forced| &forced.items).copied() {
            if index != hardest {
                self.put(&mut filled, index);
            }
        }
        let was_put =
            |index: usize| index == hardest || forced.is_some_and(|forced| forced.is_forced[index]);
        let first_follower = self.order.partition_point(|index| !self.followers[*index]);
        let (rest, followers) = self.order.split_at(first_follower);
        for index in followers.iter().chain(rest).copied() {
            if !was_put(index) && !self.put(&mut filled, index) {
                break;
            }
        }
        filled
    }

    /// Fills an instance type with its share of every item, at least with one of the hardest. What
    /// is lost by rounding for one item goes to the next.
    fn blend(&self, filled: &mut FilledBin, hardest: usize) {
        let (part, whole) = self.part_held(filled.bin.instance_type);
        let mut owed = 0;
        for index in self.order.iter().copied() {
            owed += i128::from(self.left[index]) * part;
            let due = i64::try_from(owed / whole).unwrap_or(i64::MAX);
            owed -= i128::from(self.put_some(filled, index, due)) * whole;
        }
        if filled.held.is_empty() {
            self.put_some(filled, hardest, 1);
        }
    }

    /// Puts as many pods of an item as fit; answers whether anything at all could still fit.
    fn put(&self, filled: &mut FilledBin, index: usize) -> bool {
        self.put_some(filled, index, i64::MAX) == 0
            || self.least.iter().zip(&filled.bin.free).all(|(least, free)| least <= free)
    }

    /// Puts so many pods of an item at most; answers how many.
    fn put_some(&self, filled: &mut FilledBin, index: usize, most: i64) -> i64 {
        let item = &self.items[index];
        let most = most.min(self.left[index]);
        let headroom = filled.bin.headroom(item, &self.context, &self.state.started, most);
        if headroom > 0 {
            filled.bin.add_new(item, &self.context, headroom);
            filled.held.push((index, headroom));
        }
        headroom
    }
}
