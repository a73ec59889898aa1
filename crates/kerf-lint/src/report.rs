//! What a run of the linter found.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::yaml::Position;

/// Most findings listed for one document; the rest are counted. A document with more has one
/// cause repeated, and the first hundred show it.
pub const FINDINGS_PER_DOCUMENT_MAX: usize = 100;

/// One thing wrong in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
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
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be known.
    pub instead: Option<String>,
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
    /// An API server would store every document of our kinds.
    Clean,
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
        match (self.unreadable.is_empty(), self.findings.is_empty()) {
            (false, _) => Outcome::Unreadable,
            (true, false) => Outcome::Findings,
            (true, true) => Outcome::Clean,
        }
    }

    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
