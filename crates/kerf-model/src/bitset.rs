//! A compact set of small integers.
//!
//! Sets of label values, instance types and keys are ANDed millions of times in one solve, so they
//! are bits in machine words. Only the *window* of words between the first and the last member is
//! stored: a node's one-value set stays two words long whatever the id of the value, and a set that
//! spans at most 128 aligned ids never touches the heap.

use smallvec::SmallVec;

mod iter;

pub use iter::Bits;

const WORD_BITS: u32 = u64::BITS;
/// Two words: zones, capacity types, architectures and most families of one key fit in 128 ids.
const INLINE_WORDS: usize = 2;

/// A set of `u32` indexes.
///
/// Canonical by construction: the first and the last stored word are never zero and the empty set
/// has no words, so derived equality and hashing compare members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BitSet {
    first_word: u32,
    words: SmallVec<[u64; INLINE_WORDS]>,
}

impl BitSet {
    /// The empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The set `{0, 1, …, end - 1}`.
    #[must_use]
    pub fn first(end: u32) -> Self {
        let mut words = SmallVec::from_elem(u64::MAX, (end / WORD_BITS) as usize);
        let rest = end % WORD_BITS;
        if rest > 0 {
            words.push((1 << rest) - 1);
        }
        Self { first_word: 0, words }
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many members the set has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether `index` is a member.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        self.word(index / WORD_BITS) & bit(index) != 0
    }

    /// The smallest member.
    #[must_use]
    pub fn min(&self) -> Option<u32> {
        let word = self.words.first()?;
        Some(self.first_word * WORD_BITS + word.trailing_zeros())
    }

    /// Adds `index`; says whether it was new.
    pub fn insert(&mut self, index: u32) -> bool {
        let word = index / WORD_BITS;
        self.cover(word, word + 1);
        let slot = &mut self.words[(word - self.first_word) as usize];
        let new = *slot & bit(index) == 0;
        *slot |= bit(index);
        new
    }

    /// Takes `index` out; says whether it was there.
    pub fn remove(&mut self, index: u32) -> bool {
        let present = self.contains(index);
        if present {
            self.words[(index / WORD_BITS - self.first_word) as usize] &= !bit(index);
            self.trim();
        }
        present
    }

    /// Takes everything out, keeping the storage.
    pub fn clear(&mut self) {
        self.words.clear();
        self.first_word = 0;
    }

    /// Keeps only the members for which `keep` answers true.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        for (position, word) in self.words.iter_mut().enumerate() {
            let base = (self.first_word + position as u32) * WORD_BITS;
            let mut rest = *word;
            while rest != 0 {
                let offset = rest.trailing_zeros();
                rest &= rest - 1;
                if !keep(base + offset) {
                    *word &= !(1 << offset);
                }
            }
        }
        self.trim();
    }

    /// `self ∩ other`, in place and without allocating.
    pub fn and_with(&mut self, other: &Self) {
        let start = self.first_word.max(other.first_word);
        let end = self.end_word().min(other.end_word());
        if start >= end {
            return self.clear();
        }
        let skip = (start - self.first_word) as usize;
        let length = (end - start) as usize;
        self.words.copy_within(skip..skip + length, 0);
        self.words.truncate(length);
        self.first_word = start;
        let shift = (start - other.first_word) as usize;
        for (word, mask) in self.words.iter_mut().zip(&other.words[shift..]) {
            *word &= mask;
        }
        self.trim();
    }

    /// `self ∖ other`, in place and without allocating.
    pub fn and_not_with(&mut self, other: &Self) {
        let start = self.first_word.max(other.first_word);
        let end = self.end_word().min(other.end_word());
        for word in start..end {
            self.words[(word - self.first_word) as usize] &= !other.word(word);
        }
        self.trim();
    }

    /// `self ∪ other`, in place; allocates only when the window must grow past what is stored.
    pub fn or_with(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.cover(other.first_word, other.end_word());
        let shift = (other.first_word - self.first_word) as usize;
        for (word, more) in self.words[shift..].iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Whether the two sets share a member.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.overlap(other).any(|(left, right)| left & right != 0)
    }

    /// How many members the two sets share.
    #[must_use]
    pub fn intersection_count(&self, other: &Self) -> usize {
        self.overlap(other).map(|(left, right)| (left & right).count_ones() as usize).sum()
    }

    /// Whether every member of `self` is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.is_empty()
            || (self.first_word >= other.first_word
                && self.end_word() <= other.end_word()
                && self.overlap(other).all(|(left, right)| left & !right == 0))
    }

    /// The pairs of words where both windows lie.
    fn overlap<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let start = self.first_word.max(other.first_word);
        let left = self.words.iter().skip((start - self.first_word) as usize);
        let right = other.words.iter().skip((start - other.first_word) as usize);
        left.copied().zip(right.copied())
    }

    fn end_word(&self) -> u32 {
        self.first_word + self.words.len() as u32
    }

    fn word(&self, word: u32) -> u64 {
        match word.checked_sub(self.first_word) {
            Some(position) => self.words.get(position as usize).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// Widens the window to `[start, end)`. The new words are zero, so the caller must set bits in
    /// the outermost ones at once.
    fn cover(&mut self, start: u32, end: u32) {
        if self.words.is_empty() {
            self.first_word = start;
        }
        if start < self.first_word {
            let missing = (self.first_word - start) as usize;
            self.words.insert_many(0, std::iter::repeat_n(0, missing));
            self.first_word = start;
        }
        if end > self.end_word() {
            self.words.resize((end - self.first_word) as usize, 0);
        }
    }

    /// Restores the canonical form after bits were taken away.
    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        let leading = self.words.iter().take_while(|word| **word == 0).count();
        if leading > 0 {
            let length = self.words.len() - leading;
            self.words.copy_within(leading.., 0);
            self.words.truncate(length);
            self.first_word += leading as u32;
        }
        if self.words.is_empty() {
            self.first_word = 0;
        }
    }
}

impl FromIterator<u32> for BitSet {
    fn from_iter<T: IntoIterator<Item = u32>>(indexes: T) -> Self {
        let mut set = Self::new();
        for index in indexes {
            set.insert(index);
        }
        set
    }
}

fn bit(index: u32) -> u64 {
    1 << (index % WORD_BITS)
}
