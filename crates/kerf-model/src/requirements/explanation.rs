//! Why two sides do not match, as text. Built only when somebody asks.

use std::fmt;

use thiserror::Error;

use super::Requirements;
use super::compatibility::may_be_undefined;
use crate::labels::suffix;
use crate::vocabulary::{KeySet, Vocabulary};

/// Why the node side cannot serve the pod side. Retrying helps only after one of them changed.
///
/// The wording is that of the events users of the API already know.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Incompatible {
    /// The pod side needs a label that the node side does not define.
    #[error("label {key:?} does not have known values{}", hint(.typo_of.as_deref()))]
    Undefined {
        /// The key, the first in the alphabet if there are several.
        key: String,
        /// A known label that looks like it.
        typo_of: Option<String>,
    },
    /// Labels that both define, without a common value; sorted by key.
    #[error("{}", joined(.0))]
    Disjoint(Vec<DisjointKey>),
}

/// One key on which the two sides share no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisjointKey {
    /// The key.
    pub key: String,
    /// What the pod side asks, printed.
    pub asked: String,
    /// What the node side offers, printed.
    pub offered: String,
}

impl fmt::Display for DisjointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}, {} not in {}", self.key, self.asked, self.offered)
    }
}

impl Requirements {
    /// [`Self::compatible`] with the reason when the answer is no. Undefined labels are reported
    /// before disjoint ones.
    ///
    /// # Errors
    /// The two sides do not match.
    pub fn explain(
        &self,
        other: &Self,
        allow_undefined: &KeySet,
        vocabulary: &Vocabulary,
    ) -> Result<(), Incompatible> {
        let undefined = other
            .iter()
            .filter(|theirs| !self.contains(theirs.key()))
            .filter(|theirs| !may_be_undefined(theirs, allow_undefined))
            .map(|theirs| vocabulary.key_text(theirs.key()))
            .min();
        match undefined {
            Some(key) => Err(Incompatible::Undefined {
                key: key.to_owned(),
                typo_of: self.typo_of(key, allow_undefined, vocabulary),
            }),
            None => self.explain_intersects(other, vocabulary),
        }
    }

    /// [`Self::intersects`] with the reason when the answer is no.
    ///
    /// # Errors
    /// Some key that both define has no common value.
    pub fn explain_intersects(
        &self,
        other: &Self,
        vocabulary: &Vocabulary,
    ) -> Result<(), Incompatible> {
        let mut disjoint: Vec<_> = self
            .shared(other)
            .filter(|(mine, theirs)| !mine.admits(theirs, vocabulary))
            .map(|(mine, theirs)| DisjointKey {
                key: vocabulary.key_text(mine.key()).to_owned(),
                asked: theirs.text(vocabulary).to_string(),
                offered: mine.text(vocabulary).to_string(),
            })
            .collect();
        disjoint.sort_by(|left, right| left.key.cmp(&right.key));
        if disjoint.is_empty() { Ok(()) } else { Err(Incompatible::Disjoint(disjoint)) }
    }

    /// A label that `key` may have been meant to be: one that contains it or ends like it, first
    /// among those that may stay undefined, then among the node side's own, each alphabetically.
    fn typo_of(
        &self,
        key: &str,
        allow_undefined: &KeySet,
        vocabulary: &Vocabulary,
    ) -> Option<String> {
        let own = self.keys();
        [allow_undefined, &own].into_iter().find_map(|known| {
            let texts = known.iter().map(|known| vocabulary.key_text(known));
            let alike = texts.filter(|text| text.contains(key) || text.ends_with(suffix(key)));
            alike.min().map(str::to_owned)
        })
    }
}

fn hint(typo_of: Option<&str>) -> String {
    typo_of.map_or_else(String::new, |known| format!(" (typo of {known:?}?)"))
}

fn joined(disjoint: &[DisjointKey]) -> String {
    disjoint.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
