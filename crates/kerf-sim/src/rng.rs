//! Random numbers that depend on a seed alone, so that a run can be repeated.

use kerf_engine::time::Span;
use kerf_model::hash::Fnv1a;
use kerf_model::rng::SplitMix64;

/// A stream of numbers that depends on its seed alone.
#[derive(Clone, Debug)]
pub(crate) struct Rng(SplitMix64);

/// A stretch of time something takes, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// At least.
    pub least: Span,
    /// At most; not below `least`.
    pub most: Span,
}

impl Delay {
    /// Between so many and so many milliseconds.
    #[must_use]
    pub const fn millis(least: u64, most: u64) -> Self {
        Self { least: Span::from_millis(least), most: Span::from_millis(most) }
    }

    /// Always as long.
    #[must_use]
    pub const fn exactly(span: Span) -> Self {
        Self { least: span, most: span }
    }
}

impl Rng {
    /// The stream of a seed. Streams of different purposes get different names, so that one more
    /// number for one purpose does not change what happens for another.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mut hash = Fnv1a::seeded(seed ^ 0x6b65_7266);
        hash.write(purpose.as_bytes());
        let mut rng = Self(SplitMix64::new(hash.finish()));
        rng.next();
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0.between(low, high)
    }

    /// An index below `count`, which is not zero.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.below(count)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u8) -> bool {
        percent > 0 && self.next() % 100 < u64::from(percent)
    }

    /// A time within the delay.
    pub(crate) fn span(&mut self, delay: Delay) -> Span {
        Span::from_millis(self.between(delay.least.millis(), delay.most.millis()))
    }
}
