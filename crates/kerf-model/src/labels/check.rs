//! Whether the labels of a pool's template may be used.

use thiserror::Error;

use super::{LabelRules, NameProblem, Restricted, check_label_value, check_qualified_name};
use crate::labels::well_known;

/// Why a label cannot be used. The label must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LabelProblem {
    /// The label is set by Kerf alone.
    #[error("label {} is set by the pool itself", well_known::NODE_POOL)]
    NodePool,
    /// The key is managed by Kerf or the cloud.
    #[error(transparent)]
    Restricted(#[from] Restricted),
    /// The key is not a label key.
    #[error("{key:?} is not a label key: {problem}")]
    Key {
        /// The key.
        key: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// The value is not a label value.
    #[error("value {value:?} of label {key:?} cannot be used: {problem}")]
    Value {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
}

/// Checks labels that users give to the nodes of a pool.
#[must_use]
pub fn check_labels<'a>(
    labels: impl IntoIterator<Item = (&'a str, &'a str)>,
    rules: &LabelRules,
) -> Vec<LabelProblem> {
    let mut problems = Vec::new();
    for (key, value) in labels {
        if key == well_known::NODE_POOL {
            problems.push(LabelProblem::NodePool);
        }
        if let Err(problem) = check_qualified_name(key) {
            problems.push(LabelProblem::Key { key: key.to_owned(), problem });
        }
        if let Err(problem) = check_label_value(value) {
            let (key, value) = (key.to_owned(), value.to_owned());
            problems.push(LabelProblem::Value { key, value, problem });
        }
        if let Err(restricted) = rules.is_restricted(key) {
            problems.push(restricted.into());
        }
    }
    problems
}
