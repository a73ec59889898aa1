//! Chance that can be repeated.

/// A stream of numbers that depends on its seed alone (the splitmix64 sequence: a counter, mixed).
pub(super) struct Rng {
    state: u64,
}

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// An index below `count`, which is not zero.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of the things, of which there is at least one.
    pub(super) fn pick<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        &things[self.below(things.len())]
    }

    /// One of the words, of which there is at least one.
    pub(super) fn word<'t>(&mut self, names: &[&'t str]) -> &'t str {
        names[self.below(names.len())]
    }

    /// Some of the words, at least one, in their order.
    pub(super) fn some<'t>(&mut self, names: &[&'t str]) -> Vec<&'t str> {
        let kept: Vec<_> = names.iter().copied().filter(|_| self.chance(50)).collect();
        if kept.is_empty() { vec![self.word(names)] } else { kept }
    }
}
