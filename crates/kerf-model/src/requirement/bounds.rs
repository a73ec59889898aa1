//! Inclusive integer bounds.

/// `gte ≤ value ≤ lte`, either side open. With any side set, only integers are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Inclusive lower bound.
    pub gte: Option<i64>,
    /// Inclusive upper bound.
    pub lte: Option<i64>,
}

impl Bounds {
    /// No bounds: everything is allowed, integer or not.
    pub const NONE: Self = Self { gte: None, lte: None };

    /// Whether neither side is set.
    #[must_use]
    pub fn is_open(self) -> bool {
        self == Self::NONE
    }

    /// Whether a value that spells `integer` (or none) is allowed.
    #[must_use]
    pub fn admit(self, integer: Option<i64>) -> bool {
        self.admit_lazily(|| integer)
    }

    /// As [`Self::admit`], asking for the integer only when there are bounds.
    pub(super) fn admit_lazily(self, integer: impl FnOnce() -> Option<i64>) -> bool {
        self.is_open()
            || integer().is_some_and(|n| {
                self.gte.is_none_or(|low| low <= n) && self.lte.is_none_or(|high| n <= high)
            })
    }

    /// Both bounds at once; `None` when they cross and no integer is left.
    #[must_use]
    pub fn meet(self, other: Self) -> Option<Self> {
        // `None` is below every `Some`, which is right for a maximum but not for a minimum.
        let gte = self.gte.max(other.gte);
        let lte = match (self.lte, other.lte) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (left, right) => left.or(right),
        };
        let crossed = matches!((gte, lte), (Some(low), Some(high)) if low > high);
        (!crossed).then_some(Self { gte, lte })
    }
}
