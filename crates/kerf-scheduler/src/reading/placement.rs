//! What pods ask of nodes, read from words.

use kerf_model::labels::Normalization;
use kerf_model::pod::PodShape;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;

/// Turns entries into requirements.
pub(crate) struct PlacementReader<'a> {
    pub(crate) normalization: &'a Normalization,
    pub(crate) vocabulary: &'a mut Vocabulary,
}

impl PlacementReader<'_> {
    /// Adds entries; nothing if one contradicts what was there.
    pub(crate) fn narrow(
        &mut self,
        requirements: &mut Requirements,
        entries: &[RequirementEntry],
    ) -> Option<()> {
        for entry in entries {
            let added = entry.intern(self.normalization, self.vocabulary).ok()?;
            let known = requirements.find(added.key());
            if known.is_some_and(|known| !known.admits(&added, self.vocabulary)) {
                return None;
            }
            requirements.add(added, self.vocabulary);
        }
        Some(())
    }

    /// The node selector with each required term: a node must meet one. `None` asks for nothing; a
    /// pod whose rules all contradict themselves has no alternative, and no node suits it.
    pub(crate) fn alternatives(&mut self, shape: &PodShape) -> Option<Vec<Requirements>> {
        let selector = selector_of(shape);
        let terms = &shape.placement.node_affinity.required;
        if selector.is_empty() && terms.is_empty() {
            return None;
        }
        let everything = [Vec::new()];
        let terms = if terms.is_empty() { &everything } else { terms.as_slice() };
        let mut alternatives = Vec::new();
        for term in terms {
            let mut both = Requirements::new();
            if self.narrow(&mut both, &selector).is_some() && self.narrow(&mut both, term).is_some()
            {
                alternatives.push(both);
            }
        }
        Some(alternatives)
    }
}

/// The node selector of a pod, as entries.
pub(crate) fn selector_of(shape: &PodShape) -> Vec<RequirementEntry> {
    let selector = shape.placement.node_selector.iter();
    selector
        .map(|(key, value)| RequirementEntry::new(key, Operator::In, [value.as_str()]))
        .collect()
}
