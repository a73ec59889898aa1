//! Filling one machine with what is left to be packed.

use crate::packing::bin::Bin;
use crate::packing::pack::{Order, Packer};

/// A machine filled with items, and how many of each.
pub(crate) struct Filling {
    pub(crate) bin: Bin,
    pub(crate) held: Vec<(usize, i64)>,
}

impl Packer<'_> {
    /// Fills a machine: the hardest item, then those that are forced apart, then the rest.
    pub(crate) fn fill(&self, machine: usize, hardest: usize) -> Filling {
        let mut bin = Bin::empty(machine, &self.world);
        if !self.state.reservations.is_empty() {
            let offer = self.offer_left(machine, &self.items[hardest]);
            bin.reserved = offer.and_then(|offer| offer.reservation);
        }
        let mut filling = Filling { bin, held: Vec::new() };
        if self.by == Order::Blended {
            self.blend(&mut filling, hardest);
            return filling;
        }
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

    /// Fills a machine with its share of every item, at least with one of the hardest. What is lost
    /// by rounding for one item goes to the next.
    fn blend(&self, filling: &mut Filling, hardest: usize) {
        let (part, whole) = self.part_held(filling.bin.machine);
        let mut owed = 0;
        for index in self.order.iter().copied() {
            owed += i128::from(self.left[index]) * part;
            let due = i64::try_from(owed / whole).unwrap_or(i64::MAX);
            owed -= i128::from(self.put_some(filling, index, due)) * whole;
        }
        if filling.held.is_empty() {
            self.put_some(filling, hardest, 1);
        }
    }

    /// Puts as many pods of an item as fit; answers whether anything at all could still fit.
    fn put(&self, filling: &mut Filling, index: usize) -> bool {
        self.put_some(filling, index, i64::MAX) == 0
            || self.least.iter().zip(&filling.bin.free).all(|(least, free)| least <= free)
    }

    /// Puts so many pods of an item at most; answers how many.
    fn put_some(&self, filling: &mut Filling, index: usize, most: i64) -> i64 {
        let item = &self.items[index];
        let most = most.min(self.left[index]);
        let room = filling.bin.room(item, &self.world, &self.state.started, most);
        if room > 0 {
            filling.bin.add_new(item, &self.world, room);
            filling.held.push((index, room));
        }
        room
    }
}
