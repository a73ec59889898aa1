//! What a run of the linter found.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::yaml::Position;

/// Most findings listed for one document; the rest are counted. A document with more has one
/// cause repeated, and the first hundred show it.
pub const FINDINGS_PER_DOCUMENT_MAX: usize = 100;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// An API server or the controller would refuse it.
    Error,
    /// It is taken, and most likely not what was meant.
    Warning,
}

/// One thing wrong in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it weighs.
    pub severity: Severity,
    /// The file, or `-` for standard input.
    pub file: String,
    /// Which document of the file, from one.
    pub document: usize,
    /// Where in the file.
    pub position: Option<Position>,
    /// The object's kind, if it has one.
    pub kind: Option<String>,
    /// The object's name, if it has one.
    pub name: Option<String>,
    /// The field, as `spec.template.spec.requirements[0].key`; empty for the whole document.
    pub field: String,
    /// The rule: a CEL expression, or a schema keyword and its bound.
    pub rule: String,
    /// The kind of rule: `enum`, `pattern`, `cel`, `unknown value` and so on.
    pub keyword: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be known.
    pub instead: Option<String>,
}

impl Finding {
    /// `Kind/name  field`, as far as they are known.
    pub fn title(&self) -> String {
        let object = self.object();
        let parts = object.into_iter().chain((!self.field.is_empty()).then(|| self.field.clone()));
        parts.collect::<Vec<_>>().join("  ")
    }

    /// `Kind/name`, as far as they are known.
    pub fn object(&self) -> Option<String> {
        match (&self.kind, &self.name) {
            (Some(kind), Some(name)) => Some(format!("{kind}/{name}")),
            (Some(kind), None) => Some(kind.clone()),
            (None, Some(name)) => Some(name.clone()),
            (None, None) => None,
        }
    }
}

/// Input that could not be read at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// The file or folder.
    pub file: String,
    /// What keeps it from being checked.
    pub reason: String,
}

/// What came out of it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There is nothing to say.
    Clean,
    /// An API server would store every document of our kinds, but there are warnings.
    Warnings,
    /// It would refuse at least one.
    Findings,
    /// Some input could not be read, so the answer is incomplete.
    Unreadable,
}

/// What a run of the linter found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, in the order of the input.
    pub findings: Vec<Finding>,
    /// Findings beyond [`FINDINGS_PER_DOCUMENT_MAX`] in a document, which are only counted.
    pub findings_not_listed: usize,
    /// Documents read, counting each item of a list as one.
    pub documents: usize,
    /// How many objects of other kinds were passed over, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// Input that could not be read.
    pub unreadable: Vec<Unreadable>,
    /// What a reader should know that is no finding.
    pub notes: Vec<String>,
}

impl Report {
    /// What came out of it all; input that cannot be read outweighs findings.
    pub fn outcome(&self) -> Outcome {
        let worst = self.findings.iter().map(|finding| finding.severity).min();
        match worst {
            _ if !self.unreadable.is_empty() => Outcome::Unreadable,
            Some(Severity::Error) => Outcome::Findings,
            _ if self.findings_not_listed > 0 => Outcome::Findings,
            Some(Severity::Warning) => Outcome::Warnings,
            None => Outcome::Clean,
        }
    }

    /// How many listed findings are of a severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Adds findings that were only known after everything was read, each after those before it in
    /// its document.
    pub(crate) fn insert(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            let is_before = |other: &Finding| {
                other.file == finding.file
                    && (other.document, other.position) <= (finding.document, finding.position)
            };
            let of_file = |other: &Finding| other.file == finding.file;
            let after = self.findings.iter().rposition(is_before).map(|place| place + 1);
            let before = || self.findings.iter().position(of_file);
            let place = after.or_else(before).unwrap_or(self.findings.len());
            self.findings.insert(place, finding);
        }
    }

    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
