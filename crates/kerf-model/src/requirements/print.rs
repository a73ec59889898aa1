//! A set of requirements as people read it.

use std::fmt;

use super::Requirements;
use crate::vocabulary::{KeyId, Vocabulary};

/// Requirements joined by commas and sorted, without the hostname, which is an invention of the
/// scheduler until the node exists.
#[derive(Clone, Copy, Debug)]
pub struct RequirementsText<'a> {
    requirements: &'a Requirements,
    vocabulary: &'a Vocabulary,
}

impl Requirements {
    /// The set as text.
    #[must_use]
    pub fn text<'a>(&'a self, vocabulary: &'a Vocabulary) -> RequirementsText<'a> {
        RequirementsText { requirements: self, vocabulary }
    }
}

impl fmt::Display for RequirementsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.requirements.iter().filter(|each| each.key() != KeyId::HOSTNAME);
        let mut texts: Vec<_> = shown.map(|each| each.text(self.vocabulary).to_string()).collect();
        texts.sort_unstable();
        f.write_str(&texts.join(", "))
    }
}
