//! What a check finds.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// It works, and may not for long, or not well.
    Warning,
    /// Something does not work.
    Failure,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The check that found it, for scripts.
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    /// What was seen, with names.
    pub(crate) evidence: String,
    /// The command that mends it, or what to do.
    pub(crate) fix: String,
}

impl Finding {
    pub(crate) fn failure(id: &'static str, evidence: String, fix: impl Into<String>) -> Self {
        Self { id, severity: Severity::Failure, evidence, fix: fix.into() }
    }

    pub(crate) fn warning(id: &'static str, evidence: String, fix: impl Into<String>) -> Self {
        Self { id, severity: Severity::Warning, evidence, fix: fix.into() }
    }

    /// What could not be read is neither right nor wrong.
    pub(crate) fn unknown(id: &'static str, why: &str) -> Self {
        let fix = "allow it to whoever runs kerf doctor, and run it again";
        Self::warning(id, format!("not checked: {why}"), fix)
    }
}
