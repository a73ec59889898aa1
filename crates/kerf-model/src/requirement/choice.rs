//! Settling on one allowed value.

use super::Requirement;
use crate::vocabulary::{KeyId, ValueId, Vocabulary};

/// One value out of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A value that the requirement lists.
    Listed(ValueId),
    /// An integer, because the requirement lists only what is forbidden.
    Integer(i64),
    /// Nothing is allowed.
    Nothing,
}

impl Choice {
    /// The value as text; empty when nothing is allowed.
    #[must_use]
    pub fn text(self, key: KeyId, vocabulary: &Vocabulary) -> String {
        match self {
            Self::Listed(value) => vocabulary.value_text(key, value).to_owned(),
            Self::Integer(integer) => integer.to_string(),
            Self::Nothing => String::new(),
        }
    }
}

impl Requirement {
    /// Some allowed value, chosen by `pick`: the core has no randomness, so whoever wants different
    /// answers passes different numbers. Any `pick` is valid and the same one gives the same value.
    ///
    /// A list answers with its member number `pick` modulo its length, in the order of ids. A
    /// complement answers with an integer within its bounds that is not forbidden, not negative
    /// where that is possible, since `-` cannot start a label value.
    #[must_use]
    pub fn any(&self, pick: u64, vocabulary: &Vocabulary) -> Choice {
        if self.is_empty() {
            return Choice::Nothing;
        }
        if self.complement {
            return self.integer(pick, vocabulary);
        }
        let position = pick % self.values.count() as u64;
        self.values.iter().nth(position as usize).map_or(Choice::Nothing, Choice::Listed)
    }

    fn integer(&self, pick: u64, vocabulary: &Vocabulary) -> Choice {
        let high = self.bounds.lte.unwrap_or(i64::MAX);
        let low = self.bounds.gte.unwrap_or(i64::MIN);
        let low = if high >= 0 { low.max(0) } else { low };
        let span = (i128::from(high) - i128::from(low) + 1).unsigned_abs();
        let start = u128::from(pick) % span;
        // One more try than there are forbidden values always finds a free one, if there is one.
        let tries = (self.values.count() as u128 + 1).min(span);
        (0..tries)
            .map(|step| low.wrapping_add(((start + step) % span) as i64))
            .find(|candidate| self.has_text(&candidate.to_string(), vocabulary))
            .map_or(Choice::Nothing, Choice::Integer)
    }
}
