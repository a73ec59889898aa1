//! Chance that can be repeated.

/// Any number does; a change changes every problem and so every recorded count.
const SEED: u64 = 42;

/// A stream of numbers that is the same every time (the splitmix64 sequence: a counter, mixed).
pub(super) struct Rng {
    state: u64,
}

impl Rng {
    pub(super) fn new() -> Self {
        Self { state: SEED }
    }

    /// A number below `count`, which is not zero.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mixed = mixed ^ (mixed >> 31);
        usize::try_from(mixed % count as u64).expect("it is below a usize")
    }

    /// One of the things, of which there is at least one.
    pub(super) fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }
}
