//! Selectors ready to match.

use thiserror::Error;

use super::{LabelSelector, LabelSet, SelectorExpression};
use crate::labels::{NameProblem, check_label_value, check_qualified_name};
use crate::vocabulary::{KeyId, ValueId, ValueSet, Vocabulary};

/// A selector over ids. Two selectors that mean the same terms compare equal whatever the order
/// they were written in, so topology groups can be shared by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    meaning: Meaning,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Meaning {
    /// The selector is absent.
    Absent,
    /// The selector can never match.
    Invalid(SelectorProblem),
    /// All of these must hold; sorted, without doubles.
    All(Vec<Term>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    key: KeyId,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Test {
    In(ValueSet),
    NotIn(ValueSet),
    Exists,
    DoesNotExist,
}

/// Why a selector matches nothing. The selector must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum SelectorProblem {
    /// A word that is no operator.
    #[error("unknown operator {operator:?} on key {key:?}; use In, NotIn, Exists or DoesNotExist")]
    Operator {
        /// The key.
        key: String,
        /// The word.
        operator: String,
    },
    /// `In` or `NotIn` without values.
    #[error("operator {operator} on key {key:?} needs at least one value")]
    NoValues {
        /// The key.
        key: String,
        /// The operator.
        operator: String,
    },
    /// `Exists` or `DoesNotExist` with values.
    #[error("operator {operator} on key {key:?} takes no values")]
    NeedlessValues {
        /// The key.
        key: String,
        /// The operator.
        operator: String,
    },
    /// A key that is no label key.
    #[error("{key:?} is not a label key: {problem}")]
    Key {
        /// The key.
        key: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// A value that is no label value.
    #[error("{value:?} on key {key:?} is not a label value: {problem}")]
    Value {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
}

impl Selector {
    /// Makes a selector ready to match. Never fails: an absent selector matches nothing, and so
    /// does an invalid one, which [`Self::problem`] then explains.
    pub fn compile(selector: Option<&LabelSelector>, vocabulary: &mut Vocabulary) -> Self {
        let meaning = match selector.map(|selector| terms(selector, vocabulary)) {
            None => Meaning::Absent,
            Some(Err(problem)) => Meaning::Invalid(problem),
            Some(Ok(mut terms)) => {
                terms.sort_by_cached_key(Term::order);
                terms.dedup();
                Meaning::All(terms)
            }
        };
        Self { meaning }
    }

    /// Whether an object with these labels is meant.
    #[must_use]
    pub fn matches(&self, labels: &LabelSet) -> bool {
        match &self.meaning {
            Meaning::All(terms) => terms.iter().all(|term| term.holds(labels.get(term.key))),
            Meaning::Absent | Meaning::Invalid(_) => false,
        }
    }

    /// What is wrong with the selector, if it is invalid.
    #[must_use]
    pub fn problem(&self) -> Option<&SelectorProblem> {
        match &self.meaning {
            Meaning::Invalid(problem) => Some(problem),
            Meaning::Absent | Meaning::All(_) => None,
        }
    }
}

fn terms(
    selector: &LabelSelector,
    vocabulary: &mut Vocabulary,
) -> Result<Vec<Term>, SelectorProblem> {
    let mut terms = Vec::new();
    for (key, value) in &selector.match_labels {
        check_key(key)?;
        check_value(key, value)?;
        let id = vocabulary.key(key);
        let value = vocabulary.value(id, value);
        terms.push(Term { key: id, test: Test::In(ValueSet::of(value)) });
    }
    for expression in &selector.match_expressions {
        terms.push(term(expression, vocabulary)?);
    }
    Ok(terms)
}

fn term(
    expression: &SelectorExpression,
    vocabulary: &mut Vocabulary,
) -> Result<Term, SelectorProblem> {
    let SelectorExpression { key, operator, values } = expression;
    let (key, operator) = (key.clone(), operator.clone());
    let listing = match operator.as_str() {
        "In" | "NotIn" => true,
        "Exists" | "DoesNotExist" => false,
        _ => return Err(SelectorProblem::Operator { key, operator }),
    };
    check_key(&key)?;
    match (listing, values.is_empty()) {
        (true, true) => return Err(SelectorProblem::NoValues { key, operator }),
        (false, false) => return Err(SelectorProblem::NeedlessValues { key, operator }),
        (true, false) | (false, true) => {}
    }
    values.iter().try_for_each(|value| check_value(&key, value))?;
    let id = vocabulary.key(&key);
    let listed: ValueSet = values.iter().map(|value| vocabulary.value(id, value)).collect();
    let test = match operator.as_str() {
        "In" => Test::In(listed),
        "NotIn" => Test::NotIn(listed),
        "Exists" => Test::Exists,
        _ => Test::DoesNotExist,
    };
    Ok(Term { key: id, test })
}

fn check_key(key: &str) -> Result<(), SelectorProblem> {
    check_qualified_name(key)
        .map_err(|problem| SelectorProblem::Key { key: key.to_owned(), problem })
}

fn check_value(key: &str, value: &str) -> Result<(), SelectorProblem> {
    check_label_value(value).map_err(|problem| SelectorProblem::Value {
        key: key.to_owned(),
        value: value.to_owned(),
        problem,
    })
}

impl Term {
    /// A missing label satisfies the negative tests.
    fn holds(&self, value: Option<ValueId>) -> bool {
        match &self.test {
            Test::In(listed) => value.is_some_and(|value| listed.contains(value)),
            Test::NotIn(listed) => value.is_none_or(|value| !listed.contains(value)),
            Test::Exists => value.is_some(),
            Test::DoesNotExist => value.is_none(),
        }
    }

    /// The key by which terms are put in order.
    fn order(&self) -> (KeyId, u8, Vec<ValueId>) {
        let (rank, listed) = match &self.test {
            Test::In(listed) => (0, listed.iter().collect()),
            Test::NotIn(listed) => (1, listed.iter().collect()),
            Test::Exists => (2, Vec::new()),
            Test::DoesNotExist => (3, Vec::new()),
        };
        (self.key, rank, listed)
    }
}
