//! Whether a written requirement may be used.

use std::collections::BTreeSet;

use thiserror::Error;

use super::{Operator, RequirementEntry};
use crate::labels::{LabelRules, NameProblem, Restricted, check_label_value, check_qualified_name};
use crate::vocabulary::parse_integer;

/// What was found in one entry. Only `problems` stand against using it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryReview {
    /// Reasons to refuse the entry.
    pub problems: Vec<EntryProblem>,
    /// Values that mean nothing for this key beside others that do: worth a log line.
    pub meaningless_values: Vec<String>,
}

/// Why a requirement cannot be used. The entry must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EntryProblem {
    /// The key is managed by Kerf or the cloud.
    #[error(transparent)]
    Restricted(#[from] Restricted),
    /// The key is not a label key.
    #[error("key {key:?} is not a label key: {problem}")]
    Key {
        /// The key after normalisation.
        key: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// A value is not a label value.
    #[error("value {value:?} of key {key:?} is not a label value: {problem}")]
    Value {
        /// The key after normalisation.
        key: String,
        /// The value as written.
        value: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// `In` without values.
    #[error("key {key:?} with operator In needs at least one value")]
    NoValues {
        /// The key after normalisation.
        key: String,
    },
    /// `In` with fewer values than `minValues`.
    #[error("key {key:?} lists {listed} values but asks for minValues {min_values}")]
    FewerThanMinValues {
        /// The key after normalisation.
        key: String,
        /// How many values are listed.
        listed: usize,
        /// How many are asked for.
        min_values: u32,
    },
    /// A bound that is not one non-negative integer.
    #[error("key {key:?} with operator {operator} needs exactly one non-negative integer")]
    Bound {
        /// The key after normalisation.
        key: String,
        /// The operator.
        operator: Operator,
    },
    /// None of the values means anything for this key.
    #[error("key {key:?} needs at least one of the values {known}")]
    OnlyMeaninglessValues {
        /// The key after normalisation.
        key: String,
        /// The values that mean something.
        known: KnownValues,
    },
    /// Fewer values that mean something than `minValues`.
    #[error("key {key:?} asks for minValues {min_values} but lists {meaningful} of {known}")]
    FewMeaningfulValues {
        /// The key after normalisation.
        key: String,
        /// How many listed values mean something.
        meaningful: usize,
        /// How many are asked for.
        min_values: u32,
        /// The values that mean something.
        known: KnownValues,
    },
}

/// A sorted list of values, printed comma-separated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownValues(pub BTreeSet<String>);

impl std::fmt::Display for KnownValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts: Vec<_> = self.0.iter().map(String::as_str).collect();
        f.write_str(&texts.join(", "))
    }
}

impl RequirementEntry {
    /// Checks the entry as pools, claims and pods are checked before they are used. An unknown
    /// operator cannot occur: it is refused where text becomes an [`Operator`].
    #[must_use]
    pub fn check(&self, rules: &LabelRules) -> EntryReview {
        let key = rules.normalization().key(&self.key);
        let mut review = EntryReview::default();
        if let Err(restricted) = rules.is_restricted(key) {
            review.problems.push(restricted.into());
        }
        if let Err(problem) = check_qualified_name(key) {
            review.problems.push(EntryProblem::Key { key: key.to_owned(), problem });
        }
        for value in &self.values {
            if let Err(problem) = check_label_value(value) {
                let (key, value) = (key.to_owned(), value.clone());
                review.problems.push(EntryProblem::Value { key, value, problem });
            }
        }
        if self.operator == Operator::In {
            self.check_list(key, &mut review);
            self.check_known_values(key, rules, &mut review);
        } else if self.operator.is_bound() && !self.is_non_negative_bound() {
            let (key, operator) = (key.to_owned(), self.operator);
            review.problems.push(EntryProblem::Bound { key, operator });
        }
        review
    }

    fn check_list(&self, key: &str, review: &mut EntryReview) {
        let (key, listed) = (key.to_owned(), self.values.len());
        if listed == 0 {
            review.problems.push(EntryProblem::NoValues { key: key.clone() });
        }
        if let Some(min_values) = self.min_values.filter(|min_values| listed < *min_values as usize)
        {
            review.problems.push(EntryProblem::FewerThanMinValues { key, listed, min_values });
        }
    }

    fn check_known_values(&self, key: &str, rules: &LabelRules, review: &mut EntryReview) {
        let Some(known) = rules.known_values(key) else { return };
        let (good, bad): (Vec<_>, Vec<_>) =
            self.values.iter().cloned().partition(|value| known.contains(value));
        let (key, meaningful, known) = (key.to_owned(), good.len(), KnownValues(known.clone()));
        if good.is_empty() {
            review.problems.push(EntryProblem::OnlyMeaninglessValues { key, known });
            return;
        }
        review.meaningless_values = bad;
        if let Some(min_values) = self.min_values.filter(|wanted| meaningful < *wanted as usize) {
            let problem = EntryProblem::FewMeaningfulValues { key, meaningful, min_values, known };
            review.problems.push(problem);
        }
    }

    fn is_non_negative_bound(&self) -> bool {
        match self.values.as_slice() {
            [value] => parse_integer(value).is_some_and(|n| n >= 0),
            _ => false,
        }
    }
}
