//! Where a pod wants to run, as requirements.

use std::collections::BTreeMap;

use super::Requirements;
use crate::labels::Normalization;
use crate::requirement::{BadBound, RequirementEntry};
use crate::vocabulary::Vocabulary;

/// A pod's node selector and node affinity, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodPlacement {
    /// Labels the node must carry.
    pub node_selector: BTreeMap<String, String>,
    /// Terms the node must or should satisfy.
    pub node_affinity: NodeAffinity,
}

/// Node affinity. A term is its match expressions; nothing else of a term counts here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeAffinity {
    /// Alternatives of which one must hold. Only the first is read: whoever relaxes the pod drops it
    /// to try the next.
    pub required: Vec<Vec<RequirementEntry>>,
    /// Terms that should hold. Only the heaviest is read, as if it were required, until it is
    /// relaxed away.
    pub preferred: Vec<PreferredTerm>,
}

/// A term that should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferredTerm {
    /// How much it matters, 1 to 100.
    pub weight: i32,
    /// Its match expressions.
    pub expressions: Vec<RequirementEntry>,
}

/// Whether preferences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preferences {
    /// The heaviest preference is treated as required.
    Heaviest,
    /// Only what must hold: the "strict" requirements of a pod.
    Ignored,
}

impl PodPlacement {
    /// The requirements of the pod: its node selector, the heaviest preferred term unless ignored,
    /// and the first required term.
    ///
    /// # Errors
    /// The required term has a bound that is not an integer.
    pub fn requirements(
        &self,
        preferences: Preferences,
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Result<Requirements, BadBound> {
        let selector = self.node_selector.iter().map(|(key, value)| (&**key, &**value));
        let mut requirements = Requirements::from_labels(selector, normalization, vocabulary);
        let mut read = |term| Requirements::from_entries(term, normalization, vocabulary);
        let preferred = match preferences {
            Preferences::Heaviest => self.node_affinity.heaviest(),
            Preferences::Ignored => None,
        };
        // A preference that means nothing cannot be honoured, which is no reason to refuse the pod.
        let preferred = preferred.and_then(|term| read(&term.expressions).ok());
        let required = self.node_affinity.required.first().map(read).transpose()?;
        for term in preferred.into_iter().chain(required) {
            requirements.narrow(&term, vocabulary);
        }
        Ok(requirements)
    }
}

impl NodeAffinity {
    /// The heaviest preferred term; of equal ones the first.
    #[must_use]
    pub fn heaviest(&self) -> Option<&PreferredTerm> {
        // `max_by_key` keeps the last of equals, so the walk goes backwards.
        self.preferred.iter().rev().max_by_key(|term| term.weight)
    }
}
