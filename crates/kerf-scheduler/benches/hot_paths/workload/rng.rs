//! Chance that can be repeated.

use kerf_model::rng::SplitMix64;

/// Any number does; a change changes every problem and so every recorded count.
const SEED: u64 = 42;

/// A stream of numbers that is the same every time.
pub(super) struct Rng(SplitMix64);

impl Rng {
    pub(super) fn new() -> Self {
        Self(SplitMix64::new(SEED))
    }

    /// A number below `count`, which is not zero.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0.below(count)
    }

    /// One of the things, of which there is at least one.
    pub(super) fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }
}
