//! What two requirements on the same key allow together.

use super::{Bounds, Requirement};
use crate::vocabulary::{ValueId, Vocabulary};

impl Requirement {
    /// The values that both allow, as a new requirement.
    #[must_use]
    pub fn intersection(&self, other: &Self, vocabulary: &Vocabulary) -> Self {
        let mut both = self.clone();
        both.intersect_with(other, vocabulary);
        both
    }

    /// Narrows `self` to the values that `other` allows too. Allocates only where the result lists
    /// more values than `self` did.
    pub fn intersect_with(&mut self, other: &Self, vocabulary: &Vocabulary) {
        debug_assert_eq!(self.key, other.key, "only requirements on one key intersect");
        self.min_values = self.min_values.max(other.min_values);
        let Some(bounds) = self.bounds.meet(other.bounds) else {
            return self.become_absent();
        };
        match (self.complement, other.complement) {
            (true, true) => self.values.or_with(&other.values),
            (false, true) => self.values.and_not_with(&other.values),
            (false, false) => self.values.and_with(&other.values),
            (true, false) => {
                let forbidden = std::mem::replace(&mut self.values, other.values.clone());
                self.values.and_not_with(&forbidden);
            }
        }
        if !bounds.is_open() {
            let key = self.key;
            self.values.retain(|value| bounds.admit(vocabulary.integer(key, value)));
        }
        self.complement &= other.complement;
        // A plain list has been cut to the bounds already, so they say nothing more.
        self.bounds = if self.complement { bounds } else { Bounds::NONE };
    }

    /// Whether some value is allowed by both, without building the intersection. Two complements
    /// always share one, unless their bounds cross.
    #[must_use]
    pub fn has_intersection(&self, other: &Self, vocabulary: &Vocabulary) -> bool {
        debug_assert_eq!(self.key, other.key, "only requirements on one key intersect");
        let Some(bounds) = self.bounds.meet(other.bounds) else { return false };
        let inside = |value: ValueId| bounds.admit(vocabulary.integer(self.key, value));
        let (mine, theirs) = (&self.values, &other.values);
        match (self.complement, other.complement) {
            (true, true) => true,
            (false, false) => mine.intersects(theirs),
            (false, true) if bounds.is_open() => !mine.is_subset(theirs),
            (true, false) if bounds.is_open() => !theirs.is_subset(mine),
            (false, true) => mine.iter_and_not(theirs).any(inside),
            (true, false) => theirs.iter_and_not(mine).any(inside),
        }
    }

    /// Whether a node that offers `self` can serve a pod that asks for `other`: they share a value,
    /// or both are content without the label.
    #[must_use]
    pub fn admits(&self, other: &Self, vocabulary: &Vocabulary) -> bool {
        self.has_intersection(other, vocabulary) || (self.is_negative() && other.is_negative())
    }

    fn become_absent(&mut self) {
        self.complement = false;
        self.values.clear();
        self.bounds = Bounds::NONE;
    }
}
