//! What is wrong with a scenario file.

use thiserror::Error;

/// Why a scenario cannot be played. The file must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// It is no YAML, or not of the shape of a scenario.
    #[error("{0}")]
    Yaml(String),
    /// Several things are wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<ScenarioError>),
    /// A field makes no sense.
    #[error("{field}: {problem}")]
    Field {
        /// Where, as `pools[0].requirements[1]`.
        field: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

impl ScenarioError {
    /// All of them as one, if there are any.
    pub(super) fn all(mut errors: Vec<Self>) -> Option<Self> {
        match errors.len() {
            0 | 1 => errors.pop(),
            _ => Some(Self::Several(errors)),
        }
    }

    pub(super) fn field(field: impl Into<String>, problem: impl ToString) -> Self {
        Self::Field { field: field.into(), problem: problem.to_string() }
    }
}
