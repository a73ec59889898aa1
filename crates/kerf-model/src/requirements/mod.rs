//! What several label keys may be, together.
//!
//! ```text
//!   node side (pool, claim, node)          pod side
//!   zone In [a b], arch In [amd64]   ◄──   zone In [b], team Exists
//!        │                                      │
//!        └── compatible? undefined keys and ────┘
//!            disjoint keys are the two ways to fail
//! ```

mod compatibility;
mod explanation;
mod pod;
mod print;

pub use compatibility::{Conflict, ConflictKind};
pub use explanation::{DisjointKey, Incompatible};
pub use pod::{NodeAffinity, PlacementRuleProblem, PodPlacement, Preferences, PreferredTerm};
pub use print::RequirementsText;

use crate::labels::Normalization;
use crate::requirement::{BadBound, Requirement, RequirementEntry};
use crate::vocabulary::{KeyId, KeySet, Vocabulary};

/// Requirements on distinct keys, sorted by key id so that two sets are compared in one walk.
///
/// A key that is not here is unconstrained, which reads as `Exists`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Requirements {
    entries: Vec<Requirement>,
}

impl Requirements {
    /// No constraint at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No constraint, with room for some.
    #[must_use]
    pub fn with_capacity(keys: usize) -> Self {
        Self { entries: Vec::with_capacity(keys) }
    }

    /// The labels of a node, pool or claim: each key has exactly its value.
    pub fn from_labels<'a>(
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let mut requirements = Self::new();
        for (key, value) in labels {
            let key_text = normalization.key(key);
            let key = vocabulary.key(key_text);
            let value = vocabulary.value(key, normalization.value(key_text, value));
            requirements.add(Requirement::equal(key, value), vocabulary);
        }
        requirements
    }

    /// All entries of a list at once.
    ///
    /// # Errors
    /// An entry has a bound that is not an integer.
    pub fn from_entries<'a>(
        entries: impl IntoIterator<Item = &'a RequirementEntry>,
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Result<Self, BadBound> {
        let mut requirements = Self::new();
        for entry in entries {
            let requirement = entry.intern(normalization, vocabulary)?;
            requirements.add(requirement, vocabulary);
        }
        Ok(requirements)
    }

    /// Adds a requirement; a key that is there already is narrowed.
    pub fn add(&mut self, requirement: Requirement, vocabulary: &Vocabulary) {
        match self.position(requirement.key()) {
            Ok(position) => self.entries[position].intersect_with(&requirement, vocabulary),
            Err(position) => self.entries.insert(position, requirement),
        }
    }

    /// Adds every requirement of `other`.
    pub fn narrow(&mut self, other: &Self, vocabulary: &Vocabulary) {
        for requirement in &other.entries {
            match self.position(requirement.key()) {
                Ok(position) => self.entries[position].intersect_with(requirement, vocabulary),
                Err(position) => self.entries.insert(position, requirement.clone()),
            }
        }
    }

    /// Replaces whatever was asked of the key, also where that widens it.
    pub fn replace(&mut self, requirement: Requirement) {
        match self.position(requirement.key()) {
            Ok(position) => self.entries[position] = requirement,
            Err(position) => self.entries.insert(position, requirement),
        }
    }

    /// Drops what was asked of `key`.
    pub fn remove(&mut self, key: KeyId) -> Option<Requirement> {
        self.position(key).ok().map(|position| self.entries.remove(position))
    }

    /// What is asked of `key`, if anything.
    #[must_use]
    pub fn find(&self, key: KeyId) -> Option<&Requirement> {
        self.position(key).ok().map(|position| &self.entries[position])
    }

    /// What is asked of `key`; an absent key is `Exists`.
    #[must_use]
    pub fn get(&self, key: KeyId) -> Requirement {
        self.find(key).cloned().unwrap_or_else(|| Requirement::exists(key))
    }

    /// Whether `key` is constrained.
    #[must_use]
    pub fn contains(&self, key: KeyId) -> bool {
        self.position(key).is_ok()
    }

    /// Every requirement, sorted by key id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Requirement> + Clone {
        self.entries.iter()
    }

    /// The constrained keys.
    #[must_use]
    pub fn keys(&self) -> KeySet {
        self.entries.iter().map(Requirement::key).collect()
    }

    /// How many keys are constrained.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no key is constrained.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether some requirement asks for `minValues`.
    #[must_use]
    pub fn has_min_values(&self) -> bool {
        self.entries.iter().any(|requirement| requirement.min_values().is_some())
    }

    /// The set as entries of the API, sorted by key text.
    #[must_use]
    pub fn to_entries(&self, vocabulary: &Vocabulary) -> Vec<RequirementEntry> {
        let mut sorted: Vec<_> = self.entries.iter().collect();
        sorted.sort_by_key(|requirement| vocabulary.key_text(requirement.key()));
        sorted.into_iter().flat_map(|requirement| requirement.to_entries(vocabulary)).collect()
    }

    fn position(&self, key: KeyId) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&key, Requirement::key)
    }
}
