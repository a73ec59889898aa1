//! Requirement lists that were read a moment ago.
//!
//! A cloud's thousand types tell the same labels in the same order, and sell the same zones in the
//! same ways. What stood at the same place before has its numbers already.

use std::sync::Arc;

use kerf_model::labels::Normalization;
use kerf_model::requirement::{BadBound, Requirement, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;

/// Offering lists that are remembered: zones times capacity types, with room for partitions.
const LISTS_MAX: usize = 64;

/// Entries of the last list, each with its numbers, by their place.
#[derive(Default)]
pub(crate) struct KnownEntries<'p> {
    entries: Vec<(&'p RequirementEntry, Requirement)>,
}

impl<'p> KnownEntries<'p> {
    /// Reads a list.
    ///
    /// # Errors
    /// An entry has a bound that is not an integer.
    pub(crate) fn read(
        &mut self,
        list: &'p [RequirementEntry],
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Result<Requirements, BadBound> {
        let mut requirements = Requirements::with_capacity(list.len());
        for (place, entry) in list.iter().enumerate() {
            let requirement = match self.entries.get_mut(place) {
                Some((known, requirement)) if *known == entry => requirement.clone(),
                Some(slot) => {
                    let requirement = entry.intern(normalization, vocabulary)?;
                    *slot = (entry, requirement.clone());
                    requirement
                }
                None => {
                    let requirement = entry.intern(normalization, vocabulary)?;
                    self.entries.push((entry, requirement.clone()));
                    requirement
                }
            };
            requirements.add(requirement, vocabulary);
        }
        Ok(requirements)
    }
}

/// Short lists that come again and again, in much the same order.
#[derive(Default)]
pub(crate) struct KnownLists<'p> {
    lists: Vec<(&'p [RequirementEntry], Arc<Requirements>)>,
    /// Where the next list is looked for first.
    next: usize,
}

impl<'p> KnownLists<'p> {
    /// Reads a list.
    ///
    /// # Errors
    /// An entry has a bound that is not an integer.
    pub(crate) fn read(
        &mut self,
        list: &'p [RequirementEntry],
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Result<Arc<Requirements>, BadBound> {
        let (behind, ahead) = self.lists.split_at(self.next.min(self.lists.len()));
        let is_known = |(known, _): &(&[RequirementEntry], Arc<Requirements>)| {
            std::ptr::eq(*known, list) || *known == list
        };
        let found = ahead.iter().position(is_known).map(|place| behind.len() + place);
        if let Some(place) = found.or_else(|| behind.iter().position(is_known)) {
            self.next = place + 1;
            return Ok(self.lists[place].1.clone());
        }
        let read = Requirements::from_entries(list, normalization, vocabulary)?;
        let requirements = Arc::new(read);
        if self.lists.len() < LISTS_MAX {
            self.lists.push((list, requirements.clone()));
            self.next = self.lists.len();
        }
        Ok(requirements)
    }
}
