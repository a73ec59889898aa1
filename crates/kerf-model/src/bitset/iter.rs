//! Walking over members, also of an intersection or difference that is never built.

use super::{BitSet, WORD_BITS};

/// Members in rising order.
#[derive(Clone, Debug)]
pub struct Bits<'a> {
    set: &'a BitSet,
    mask: Mask<'a>,
    position: usize,
    rest: u64,
}

#[derive(Clone, Copy, Debug)]
enum Mask<'a> {
    All,
    In(&'a BitSet),
    NotIn(&'a BitSet),
}

impl BitSet {
    /// Every member, in rising order.
    #[must_use]
    pub fn iter(&self) -> Bits<'_> {
        Bits::new(self, Mask::All)
    }

    /// The members of `self ∩ other`, without building it.
    #[must_use]
    pub fn iter_and<'a>(&'a self, other: &'a Self) -> Bits<'a> {
        Bits::new(self, Mask::In(other))
    }

    /// The members of `self ∖ other`, without building it.
    #[must_use]
    pub fn iter_and_not<'a>(&'a self, other: &'a Self) -> Bits<'a> {
        Bits::new(self, Mask::NotIn(other))
    }
}

impl<'a> IntoIterator for &'a BitSet {
    type Item = u32;
    type IntoIter = Bits<'a>;

    fn into_iter(self) -> Bits<'a> {
        self.iter()
    }
}

impl<'a> Bits<'a> {
    fn new(set: &'a BitSet, mask: Mask<'a>) -> Self {
        let mut bits = Self { set, mask, position: 0, rest: 0 };
        bits.rest = bits.load();
        bits
    }

    /// The masked word at the current position; zero past the end.
    fn load(&self) -> u64 {
        let Some(word) = self.set.words.get(self.position) else { return 0 };
        let number = self.set.first_word + self.position as u32;
        match self.mask {
            Mask::All => *word,
            Mask::In(other) => word & other.word(number),
            Mask::NotIn(other) => word & !other.word(number),
        }
    }
}

impl Iterator for Bits<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.rest == 0 {
            self.position += 1;
            if self.position >= self.set.words.len() {
                return None;
            }
            self.rest = self.load();
        }
        let offset = self.rest.trailing_zeros();
        self.rest &= self.rest - 1;
        Some((self.set.first_word + self.position as u32) * WORD_BITS + offset)
    }
}
