//! Things to dense numbers and back.
//!
//! An [`Interner`] gives each distinct thing the next number. Numbers depend only on the order of
//! asking, never on hashing, so the same input read in the same order gives the same ids.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;

use crate::bitset::{BitSet, Bits};

/// A small typed integer that indexes an array.
pub trait DenseId: Copy + Eq + Ord + Hash + fmt::Debug {
    /// The id with this index.
    fn from_index(index: u32) -> Self;
    /// The index behind the id.
    fn index(self) -> u32;
}

/// Declares a dense id type: `dense_id!(/// What it names. pub struct ZoneId);`
#[macro_export]
macro_rules! dense_id {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(pub u32);

        impl $crate::intern::DenseId for $name {
            fn from_index(index: u32) -> Self {
                Self(index)
            }

            fn index(self) -> u32 {
                self.0
            }
        }
    };
}

/// Each distinct `T` stored once under a dense id.
#[derive(Clone, Debug)]
pub struct Interner<I, T> {
    entries: Vec<T>,
    index: FxHashMap<T, I>,
}

impl<I: DenseId, T: Clone + Eq + Hash> Interner<I, T> {
    /// An interner that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: Vec::new(), index: FxHashMap::default() }
    }

    /// How many distinct things are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The id of `thing`, if it was interned before.
    #[must_use]
    pub fn find<Q: ?Sized + Eq + Hash>(&self, thing: &Q) -> Option<I>
    where
        T: Borrow<Q>,
    {
        self.index.get(thing).copied()
    }

    /// The id of `thing`; `own` makes the stored copy if it is new.
    pub fn intern<Q: ?Sized + Eq + Hash>(&mut self, thing: &Q, own: impl FnOnce() -> T) -> I
    where
        T: Borrow<Q>,
    {
        if let Some(id) = self.find(thing) {
            return id;
        }
        let next = u32::try_from(self.entries.len())
            .expect("four thousand million distinct entries do not fit in memory");
        let (id, entry) = (I::from_index(next), own());
        self.entries.push(entry.clone());
        self.index.insert(entry, id);
        id
    }

    /// The thing behind an id that this interner gave.
    #[must_use]
    pub fn get(&self, id: I) -> &T {
        &self.entries[id.index() as usize]
    }

    /// Every entry with its id, in the order of interning.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.entries.iter().zip(0..).map(|(entry, index)| (I::from_index(index), entry))
    }
}

impl<I: DenseId, T: Clone + Eq + Hash> Default for Interner<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A set of dense ids of one kind: a [`BitSet`] that cannot be mixed up with another's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdSet<I> {
    bits: BitSet,
    kind: PhantomData<I>,
}

impl<I: DenseId> IdSet<I> {
    /// The empty set.
    #[must_use]
    pub fn new() -> Self {
        Self { bits: BitSet::new(), kind: PhantomData }
    }

    /// The set of one id.
    #[must_use]
    pub fn of(id: I) -> Self {
        Self::from_iter([id])
    }

    /// The untyped bits.
    #[must_use]
    pub fn bits(&self) -> &BitSet {
        &self.bits
    }

    /// Whether the set has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// How many members the set has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bits.count()
    }

    /// Whether `id` is a member.
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.bits.contains(id.index())
    }

    /// Adds `id`; says whether it was new.
    pub fn insert(&mut self, id: I) -> bool {
        self.bits.insert(id.index())
    }

    /// Takes `id` out; says whether it was there.
    pub fn remove(&mut self, id: I) -> bool {
        self.bits.remove(id.index())
    }

    /// Takes everything out, keeping the storage.
    pub fn clear(&mut self) {
        self.bits.clear();
    }

    /// Keeps only the members for which `keep` answers true.
    pub fn retain(&mut self, mut keep: impl FnMut(I) -> bool) {
        self.bits.retain(|index| keep(I::from_index(index)));
    }

    /// `self ∩ other`, in place.
    pub fn and_with(&mut self, other: &Self) {
        self.bits.and_with(&other.bits);
    }

    /// `self ∖ other`, in place.
    pub fn and_not_with(&mut self, other: &Self) {
        self.bits.and_not_with(&other.bits);
    }

    /// `self ∪ other`, in place.
    pub fn or_with(&mut self, other: &Self) {
        self.bits.or_with(&other.bits);
    }

    /// Whether the two sets share a member.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.bits.intersects(&other.bits)
    }

    /// Whether every member of `self` is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.bits.is_subset(&other.bits)
    }

    /// Every member, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = I> + Clone {
        typed(self.bits.iter())
    }

    /// The members of `self ∩ other`, without building it.
    pub fn iter_and<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = I> {
        typed(self.bits.iter_and(&other.bits))
    }

    /// The members of `self ∖ other`, without building it.
    pub fn iter_and_not<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = I> {
        typed(self.bits.iter_and_not(&other.bits))
    }
}

impl<I: DenseId> Default for IdSet<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: DenseId> FromIterator<I> for IdSet<I> {
    fn from_iter<T: IntoIterator<Item = I>>(ids: T) -> Self {
        Self { bits: ids.into_iter().map(I::index).collect(), kind: PhantomData }
    }
}

fn typed<I: DenseId>(bits: Bits<'_>) -> impl Iterator<Item = I> + Clone {
    bits.map(I::from_index)
}
