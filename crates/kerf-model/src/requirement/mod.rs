//! What one label key may be.
//!
//! A requirement is a set of values: those listed, or all but those listed, the latter perhaps
//! within integer bounds. Every operator of the API is a way to write such a set down.
//!
//! | Operator | complement | values | bounds |
//! |---|---|---|---|
//! | In v | no | v | – |
//! | NotIn v | yes | v | – |
//! | Exists | yes | ∅ | – |
//! | DoesNotExist | no | ∅ | – |
//! | Gt n, Gte n | yes | ∅ | from n+1, from n |
//! | Lt n, Lte n | yes | ∅ | to n−1, to n |

mod bounds;
mod choice;
mod entry;
mod entry_check;
mod intersection;
mod operator;
mod print;

pub use bounds::Bounds;
pub use choice::Choice;
pub use entry::{BadBound, RequirementEntry};
pub use entry_check::{EntryProblem, EntryReview, KnownValues};
pub use operator::{Operator, UnknownOperator};
pub use print::RequirementText;

use crate::vocabulary::{KeyId, ValueId, ValueSet, Vocabulary, parse_integer};

/// A set of allowed values of one key.
///
/// Invariants: bounds are set only on a complement, and never cross.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    key: KeyId,
    complement: bool,
    values: ValueSet,
    bounds: Bounds,
    min_values: Option<u32>,
}

/// Constructors, one per operator.
impl Requirement {
    /// `In`: one of `values`. With no values nothing is allowed.
    #[must_use]
    pub fn one_of(key: KeyId, values: ValueSet) -> Self {
        Self { key, complement: false, values, bounds: Bounds::NONE, min_values: None }
    }

    /// `In` with one value, as a label of a node is.
    #[must_use]
    pub fn equal(key: KeyId, value: ValueId) -> Self {
        Self::one_of(key, ValueSet::of(value))
    }

    /// `NotIn`: anything but `values`, or no label at all.
    #[must_use]
    pub fn none_of(key: KeyId, values: ValueSet) -> Self {
        Self { complement: true, ..Self::one_of(key, values) }
    }

    /// `Exists`: any value.
    #[must_use]
    pub fn exists(key: KeyId) -> Self {
        Self::none_of(key, ValueSet::new())
    }

    /// `DoesNotExist`: no value is allowed.
    #[must_use]
    pub fn absent(key: KeyId) -> Self {
        Self::one_of(key, ValueSet::new())
    }

    /// `Gt`: an integer above `n`. Nothing is above the largest integer.
    #[must_use]
    pub fn greater_than(key: KeyId, n: i64) -> Self {
        n.checked_add(1).map_or_else(|| Self::absent(key), |n| Self::at_least(key, n))
    }

    /// `Lt`: an integer below `n`. Nothing is below the smallest integer.
    #[must_use]
    pub fn less_than(key: KeyId, n: i64) -> Self {
        n.checked_sub(1).map_or_else(|| Self::absent(key), |n| Self::at_most(key, n))
    }

    /// `Gte`: an integer that is `n` or more.
    #[must_use]
    pub fn at_least(key: KeyId, n: i64) -> Self {
        Self { bounds: Bounds { gte: Some(n), lte: None }, ..Self::exists(key) }
    }

    /// `Lte`: an integer that is `n` or less.
    #[must_use]
    pub fn at_most(key: KeyId, n: i64) -> Self {
        Self { bounds: Bounds { gte: None, lte: Some(n) }, ..Self::exists(key) }
    }

    /// The same set, asking that at least `min_values` distinct values stay possible.
    #[must_use]
    pub fn with_min_values(mut self, min_values: Option<u32>) -> Self {
        self.min_values = min_values;
        self
    }
}

/// Questions.
impl Requirement {
    /// The key that is constrained.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Whether the listed values are the forbidden ones.
    #[must_use]
    pub fn is_complement(&self) -> bool {
        self.complement
    }

    /// The listed values: allowed ones, or forbidden ones if this is a complement.
    #[must_use]
    pub fn values(&self) -> &ValueSet {
        &self.values
    }

    /// The integer bounds.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How many distinct values must stay possible.
    #[must_use]
    pub fn min_values(&self) -> Option<u32> {
        self.min_values
    }

    /// Whether `value` is allowed.
    #[must_use]
    pub fn has(&self, value: ValueId, vocabulary: &Vocabulary) -> bool {
        self.values.contains(value) != self.complement
            && self.bounds.admit_lazily(|| vocabulary.integer(self.key, value))
    }

    /// Whether `text` is allowed, also when the vocabulary never heard of it.
    #[must_use]
    pub fn has_text(&self, text: &str, vocabulary: &Vocabulary) -> bool {
        match vocabulary.find_value(self.key, text) {
            Some(value) => self.has(value, vocabulary),
            None => self.complement && self.bounds.admit_lazily(|| parse_integer(text)),
        }
    }

    /// The operator that this set would be written with; bounds do not change it.
    #[must_use]
    pub fn operator(&self) -> Operator {
        match (self.complement, self.values.is_empty()) {
            (true, true) => Operator::Exists,
            (true, false) => Operator::NotIn,
            (false, false) => Operator::In,
            (false, true) => Operator::DoesNotExist,
        }
    }

    /// Whether a node without the label satisfies this: `NotIn` or `DoesNotExist`.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.complement != self.values.is_empty()
    }

    /// Whether no value at all is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.complement && self.values.is_empty()
    }

    /// How many values are allowed; a complement counts as the largest integer less its values.
    #[must_use]
    pub fn len(&self) -> u64 {
        let listed = self.values.count() as u64;
        if self.complement { i64::MAX as u64 - listed } else { listed }
    }

    /// The only value allowed, if there is exactly one.
    #[must_use]
    pub fn single_value(&self) -> Option<ValueId> {
        let mut values = self.values.iter();
        let first = values.next().filter(|_| !self.complement);
        if values.next().is_none() { first } else { None }
    }
}
