//! Whether a node side can serve a pod side, as fast as can be.

use super::Requirements;
use crate::requirement::Requirement;
use crate::vocabulary::{KeyId, KeySet, Vocabulary};

/// The first thing that stands against a match: small, copied, and made without allocating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// On which key.
    pub key: KeyId,
    /// In what way.
    pub kind: ConflictKind,
}

/// The two ways to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// The pod side needs a key that the node side says nothing about.
    Undefined,
    /// Both sides constrain the key and share no value.
    Disjoint,
}

impl Requirements {
    /// Whether every key that both constrain has a value that both allow. Two sides that are both
    /// content without the label agree too.
    #[must_use]
    pub fn intersects(&self, other: &Self, vocabulary: &Vocabulary) -> bool {
        self.shared(other).all(|(mine, theirs)| mine.admits(theirs, vocabulary))
    }

    /// Whether `self`, the node side, can serve `other`, the pod side.
    ///
    /// The pod side may ask for keys that the node side does not define only if they are in
    /// `allow_undefined`: pass the well-known keys for claims, which settle them at launch, and an
    /// empty set for nodes, which have all the labels they will ever have.
    #[must_use]
    pub fn compatible(
        &self,
        other: &Self,
        allow_undefined: &KeySet,
        vocabulary: &Vocabulary,
    ) -> bool {
        self.conflict(other, allow_undefined, vocabulary).is_none()
    }

    /// The first conflict of [`Self::compatible`], in one walk over both sides in order of key id.
    #[must_use]
    pub fn conflict(
        &self,
        other: &Self,
        allow_undefined: &KeySet,
        vocabulary: &Vocabulary,
    ) -> Option<Conflict> {
        let mut mine = self.entries.iter().peekable();
        for theirs in &other.entries {
            while mine.next_if(|mine| mine.key() < theirs.key()).is_some() {}
            let kind = match mine.next_if(|mine| mine.key() == theirs.key()) {
                Some(mine) if mine.admits(theirs, vocabulary) => continue,
                Some(_) => ConflictKind::Disjoint,
                None if may_be_undefined(theirs, allow_undefined) => continue,
                None => ConflictKind::Undefined,
            };
            return Some(Conflict { key: theirs.key(), kind });
        }
        None
    }

    /// Pairs of requirements on the keys that both sides constrain.
    pub(super) fn shared<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a Requirement, &'a Requirement)> {
        let mut mine = self.entries.iter().peekable();
        other.entries.iter().filter_map(move |theirs| {
            while mine.next_if(|mine| mine.key() < theirs.key()).is_some() {}
            mine.next_if(|mine| mine.key() == theirs.key()).map(|mine| (mine, theirs))
        })
    }
}

/// Whether a node side that does not define the key can serve `requirement` all the same.
pub(super) fn may_be_undefined(requirement: &Requirement, allow_undefined: &KeySet) -> bool {
    requirement.is_negative() || allow_undefined.contains(requirement.key())
}
