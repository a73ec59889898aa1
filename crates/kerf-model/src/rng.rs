//! Numbers that look random and depend on a seed alone, so that everything made of them can be
//! repeated.

/// The SplitMix64 sequence: a counter, mixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from `low` to `high`, both included.
    pub const fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next_u64() % (high - low + 1)
    }

    /// An index below `count`, which is not zero.
    pub const fn below(&mut self, count: usize) -> usize {
        (self.next_u64() % count as u64) as usize
    }
}

/// Shuffles the bits of a number, so that neighbours have nothing in common.
#[must_use]
pub const fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut numbers = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| numbers.next_u64()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn bounds_are_kept() {
        let mut numbers = SplitMix64::new(7);
        assert!((0..1_000).all(|_| (3..=5).contains(&numbers.between(3, 5))));
        assert!((0..1_000).all(|_| numbers.below(4) < 4));
    }
}
