//! What is printed.

use std::fmt::Write;

use serde_json::{Value, json};

use super::checks::CHECKS;
use super::facts::Facts;
use super::finding::{Finding, Severity};

/// What all checks found, in their order.
pub(super) struct Report {
    checked: Vec<(&'static str, &'static str, Vec<Finding>)>,
}

impl Report {
    pub(super) fn of(facts: &Facts) -> Self {
        let run = CHECKS.iter().map(|check| (check.id, check.about, check.run(facts)));
        // Nothing else can be known of a cluster that does not answer.
        let shown = if facts.version.is_ok() { CHECKS.len() } else { 1 };
        Self { checked: run.take(shown).collect() }
    }

    /// The worst there is.
    pub(super) fn severity(&self) -> Option<Severity> {
        self.findings().map(|finding| finding.severity).max()
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.checked.iter().flat_map(|(.., findings)| findings)
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (id, about, findings) in &self.checked {
            if findings.is_empty() {
                let _ = writeln!(text, "ok       {id}: {about}");
            }
            for finding in findings {
                let word = match finding.severity {
                    Severity::Warning => "warning",
                    Severity::Failure => "FAILURE",
                };
                let _ = writeln!(text, "{word}  {id}: {}", finding.evidence);
                let _ = writeln!(text, "           to do: {}", finding.fix);
            }
        }
        let count = |severity| self.findings().filter(|it| it.severity == severity).count();
        let (failures, warnings) = (count(Severity::Failure), count(Severity::Warning));
        let checks = self.checked.len();
        let _ = writeln!(text, "{checks} checks, {failures} failures, {warnings} warnings");
        text
    }

    /// For scripts.
    pub(super) fn json(&self) -> Value {
        let checks: Vec<Value> = self
            .checked
            .iter()
            .map(|(id, about, findings)| json!({"id": id, "about": about, "findings": findings}))
            .collect();
        json!({"checks": checks})
    }
}
