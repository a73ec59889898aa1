//! Requirements as they stand in pools, claims, overlays and pods.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Operator, Requirement};
use crate::labels::Normalization;
use crate::vocabulary::{KeyId, ValueSet, Vocabulary, parse_integer};

/// One line of a requirement list, as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequirementEntry {
    /// The label key as written.
    pub key: String,
    /// How the values constrain it.
    pub operator: Operator,
    /// The values as written.
    pub values: Vec<String>,
    /// How many distinct values must stay possible.
    pub min_values: Option<u32>,
}

/// A bound that is not a bound. The entry must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key} {operator} needs exactly one integer, but has {values:?}")]
pub struct BadBound {
    /// The key as written.
    pub key: String,
    /// The operator.
    pub operator: Operator,
    /// The values as written.
    pub values: Vec<String>,
}

impl RequirementEntry {
    /// An entry without `minValues`.
    #[must_use]
    pub fn new<'a>(
        key: &str,
        operator: Operator,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let values = values.into_iter().map(str::to_owned).collect();
        Self { key: key.to_owned(), operator, values, min_values: None }
    }

    /// The set of values this entry means, its key and values normalised.
    ///
    /// Only what has no meaning fails; whether the entry may be used is [`Self::check`]'s question.
    ///
    /// # Errors
    /// An operator that takes a bound has no integer, or several.
    pub fn intern(
        &self,
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Result<Requirement, BadBound> {
        let key_text = normalization.key(&self.key);
        let key = vocabulary.key(key_text);
        let mut listed = || -> ValueSet {
            let normal = self.values.iter().map(|value| normalization.value(key_text, value));
            normal.map(|value| vocabulary.value(key, value)).collect()
        };
        let requirement = match self.operator {
            Operator::In => Requirement::one_of(key, listed()),
            Operator::NotIn => Requirement::none_of(key, listed()),
            Operator::Exists => Requirement::exists(key),
            Operator::DoesNotExist => Requirement::absent(key),
            Operator::Gt => Requirement::greater_than(key, self.bound(normalization)?),
            Operator::Lt => Requirement::less_than(key, self.bound(normalization)?),
            Operator::Gte => Requirement::at_least(key, self.bound(normalization)?),
            Operator::Lte => Requirement::at_most(key, self.bound(normalization)?),
        };
        Ok(requirement.with_min_values(self.min_values))
    }

    /// The same entry, its key and values as they are spelt today.
    #[must_use]
    pub fn normalized(&self, normalization: &Normalization) -> Self {
        let key = normalization.key(&self.key);
        let values = self.values.iter().map(|value| normalization.value(key, value).to_owned());
        Self { key: key.to_owned(), values: values.collect(), ..self.clone() }
    }

    /// Whether none of the values that another entry lists for the same key is admitted, by the
    /// texts alone: cheap, and never wrong when it says so of entries that are both normalised.
    #[must_use]
    pub fn rules_out(&self, listed: &Self) -> bool {
        if self.key != listed.key || listed.operator != Operator::In || listed.values.is_empty() {
            return false;
        }
        let bound = self.integer();
        listed.values.iter().all(|value| !self.admits_within(value, bound))
    }

    /// Whether a label of this value is admitted, by the texts alone. A bound that is not an
    /// integer excludes nothing.
    #[must_use]
    pub fn admits(&self, value: &str) -> bool {
        self.admits_within(value, self.integer())
    }

    fn integer(&self) -> Option<i64> {
        match self.values.as_slice() {
            [value] => parse_integer(value),
            _ => None,
        }
    }

    fn admits_within(&self, value: &str, bound: Option<i64>) -> bool {
        let is_within = |is_within: fn(i64, i64) -> bool| {
            bound.is_none_or(|bound| parse_integer(value).is_some_and(|n| is_within(n, bound)))
        };
        let is_listed = || self.values.iter().any(|listed| listed == value);
        match self.operator {
            Operator::In => is_listed(),
            Operator::NotIn => !is_listed(),
            Operator::Exists => true,
            Operator::DoesNotExist => false,
            Operator::Gt => is_within(|n, bound| n > bound),
            Operator::Lt => is_within(|n, bound| n < bound),
            Operator::Gte => is_within(|n, bound| n >= bound),
            Operator::Lte => is_within(|n, bound| n <= bound),
        }
    }

    fn bound(&self, normalization: &Normalization) -> Result<i64, BadBound> {
        let value = match self.values.as_slice() {
            [value] => parse_integer(normalization.value(normalization.key(&self.key), value)),
            _ => None,
        };
        value.ok_or_else(|| BadBound {
            key: self.key.clone(),
            operator: self.operator,
            values: self.values.clone(),
        })
    }
}

impl Requirement {
    /// The requirement as entries of the API: two when both bounds are set, otherwise one. The API
    /// cannot say "within bounds but not these", so with a bound the forbidden values are lost.
    #[must_use]
    pub fn to_entries(&self, vocabulary: &Vocabulary) -> Vec<RequirementEntry> {
        let entry = |operator, values: Vec<String>| RequirementEntry {
            key: vocabulary.key_text(self.key).to_owned(),
            operator,
            values,
            min_values: self.min_values,
        };
        if self.bounds.is_open() {
            return vec![entry(self.operator(), owned_texts(self.key, &self.values, vocabulary))];
        }
        let low = self.bounds.gte.map(|n| entry(Operator::Gte, vec![n.to_string()]));
        let high = self.bounds.lte.map(|n| entry(Operator::Lte, vec![n.to_string()]));
        low.into_iter().chain(high).collect()
    }
}

fn owned_texts(key: KeyId, values: &ValueSet, vocabulary: &Vocabulary) -> Vec<String> {
    vocabulary.sorted_texts(key, values).into_iter().map(str::to_owned).collect()
}
