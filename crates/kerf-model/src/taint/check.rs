//! Whether the taints of a pool may be used.

use std::collections::BTreeSet;

use thiserror::Error;

use super::Taint;
use crate::labels::{NameProblem, check_qualified_name};

/// Why a taint cannot be used. The taint must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TaintProblem {
    /// The key is not a label key.
    #[error("taint {taint} has a key that is not a label key: {problem}")]
    Key {
        /// The taint.
        taint: Taint,
        /// What is wrong with the key.
        problem: NameProblem,
    },
    /// The value is not empty and not shaped like a label key, which is what values must be too.
    #[error("taint {taint} has a value that cannot be used: {problem}")]
    Value {
        /// The taint.
        taint: Taint,
        /// What is wrong with the value.
        problem: NameProblem,
    },
    /// The same key and effect twice, in one list or across both.
    #[error("taint {taint} stands there twice; a node carries one taint per key and effect")]
    Double {
        /// The second of the two.
        taint: Taint,
    },
}

/// Checks a pool's taints and startup taints together.
#[must_use]
pub fn check_taints(taints: &[Taint], startup_taints: &[Taint]) -> Vec<TaintProblem> {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for taint in taints.iter().chain(startup_taints) {
        if let Err(problem) = check_qualified_name(&taint.key) {
            problems.push(TaintProblem::Key { taint: taint.clone(), problem });
        }
        if !taint.value.is_empty()
            && let Err(problem) = check_qualified_name(&taint.value)
        {
            problems.push(TaintProblem::Value { taint: taint.clone(), problem });
        }
        if !seen.insert((&taint.key, taint.effect)) {
            problems.push(TaintProblem::Double { taint: taint.clone() });
        }
    }
    problems
}
