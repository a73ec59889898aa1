//! Chance that can be repeated.

use kerf_engine::time::Span;

/// A stream of numbers that depends on its seed alone (the splitmix64 sequence: a counter, mixed).
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    state: u64,
}

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

impl Dice {
    /// The stream of a seed. Streams of different purposes get different names, so that one more
    /// throw for one purpose does not change what happens for another.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let mixed = purpose.bytes().fold(seed ^ 0x6b65_7266, |state, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut dice = Self { state: mixed };
        dice.next();
        dice
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// An index below `count`, which is not zero.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
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
