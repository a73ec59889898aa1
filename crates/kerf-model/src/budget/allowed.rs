//! The answer of a budget.

use std::fmt;

/// How many nodes may be disturbed. The order puts the stricter answer first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allowed {
    /// No more than so many.
    AtMost(u32),
    /// As many as wanted: no budget applies.
    Unlimited,
}

impl Allowed {
    /// What is left when so many nodes are already being disturbed.
    #[must_use]
    pub fn less(self, disrupting: u32) -> Allowed {
        match self {
            Allowed::AtMost(count) => Allowed::AtMost(count.saturating_sub(disrupting)),
            Allowed::Unlimited => Allowed::Unlimited,
        }
    }

    /// Whether at least so many nodes may be disturbed.
    pub fn admits(self, count: u32) -> bool {
        Allowed::AtMost(count) <= self
    }

    /// Whether nothing may be disturbed.
    pub fn is_none(self) -> bool {
        self == Allowed::AtMost(0)
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::AtMost(count) => count.fmt(f),
            Allowed::Unlimited => f.pad("unlimited"),
        }
    }
}
