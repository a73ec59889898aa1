//! Requirements as people read them in events and logs.

use std::fmt;

use super::{Operator, Requirement};
use crate::vocabulary::Vocabulary;

/// Values printed before the rest is only counted, so that an event with 900 instance types stays
/// readable. Tools know this number.
const VALUES_SHOWN_MAX: usize = 5;

/// `key op [v1 v2 and N others] >=low <=high minValues n`
#[derive(Clone, Copy, Debug)]
pub struct RequirementText<'a> {
    requirement: &'a Requirement,
    vocabulary: &'a Vocabulary,
}

impl Requirement {
    /// The requirement as text.
    #[must_use]
    pub fn text<'a>(&'a self, vocabulary: &'a Vocabulary) -> RequirementText<'a> {
        RequirementText { requirement: self, vocabulary }
    }
}

impl fmt::Display for RequirementText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requirement = self.requirement;
        let operator = requirement.operator();
        write!(f, "{} {operator}", self.vocabulary.key_text(requirement.key))?;
        if matches!(operator, Operator::In | Operator::NotIn) {
            self.values(f)?;
        }
        if let Some(low) = requirement.bounds.gte {
            write!(f, " >={low}")?;
        }
        if let Some(high) = requirement.bounds.lte {
            write!(f, " <={high}")?;
        }
        if let Some(count) = requirement.min_values {
            write!(f, " minValues {count}")?;
        }
        Ok(())
    }
}

impl RequirementText<'_> {
    fn values(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.vocabulary.sorted_texts(self.requirement.key, &self.requirement.values);
        let shown = &texts[..texts.len().min(VALUES_SHOWN_MAX)];
        write!(f, " [{}", shown.join(" "))?;
        if texts.len() > VALUES_SHOWN_MAX {
            write!(f, " and {} others", texts.len() - VALUES_SHOWN_MAX)?;
        }
        f.write_str("]")
    }
}
