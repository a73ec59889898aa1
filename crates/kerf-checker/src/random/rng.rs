//! Random numbers that depend on a seed alone, so that a problem can be made again.

use kerf_model::rng::SplitMix64;

/// A stream of numbers that depends on its seed alone.
pub(super) struct Rng(SplitMix64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0.between(low, high)
    }

    /// An index below `count`, which is not zero.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0.below(count)
    }

    /// True in so many of a hundred cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.0.next_u64() % 100 < percent
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
