//! The verdict an API server of Kubernetes 1.36 would give on manifests of our kinds, offline, with
//! advice on what to write instead.
//!
//! ```text
//! files, folders, stdin ─ gather ─► Input ─ split ─► document ─ tree ─► values with places
//!                                                                            │
//!     CRDs ─► Catalogue ─────────────────────────────────► identity, verdict ┤
//!                                                                            ▼
//!                                    text, JSON, SARIF ◄─ render ─ Report of Findings
//! ```
//!
//! The verdict on one object goes the way the server goes when an object is created by a client
//! that asks for strict field validation, as kubectl does: unknown fields, nulls and defaults,
//! `metadata`, the structural schema, list types, and then CEL rules unless an error of type, size
//! or presence stands. Unlike the server, which stops after unknown fields, all is said at once.
//!
//! Start with [`lint`]; [`objects`] gives what was read to whoever wants more than a verdict. The
//! crate reads files but knows no cluster, no AWS and no clock, and it knows our kinds only through
//! the CRDs it is given. Input of any bytes gives a report, never a panic.

mod advice;
mod blanks;
mod catalogue;
mod cel;
mod document;
mod field_path;
mod identity;
mod input;
mod metadata;
mod names;
mod objects;
mod references;
mod render;
mod report;
mod schema;
mod verdict;
mod violation;
mod yaml;

pub use advice::nearest;
pub use catalogue::{Catalogue, CatalogueError, SemanticCheck, SemanticFinding};
pub use field_path::{FieldPath, Step};
pub use input::{FILE_BYTES_MAX, Input, gather};
pub use objects::{Object, Objects, objects};
pub use render::{Colour, printable, to_github, to_json, to_sarif, to_text};
pub use report::{FINDINGS_PER_DOCUMENT_MAX, Finding, Outcome, Report, Severity, Unreadable};
pub use verdict::{Verdict, verdict};
pub use violation::{Rule, RuleViolation, Spot};
pub use yaml::Position;

use references::References;

/// Lints every document of every input against the catalogue.
pub fn lint(inputs: &[Input], catalogue: &Catalogue) -> Report {
    let mut report = Report::default();
    let mut references = References::default();
    for input in inputs {
        match input.text() {
            Err(unreadable) => report.unreadable.push(unreadable),
            Ok(text) => {
                for (place, chunk) in yaml::split::split(text).iter().enumerate() {
                    document::lint(
                        &input.name,
                        place + 1,
                        chunk,
                        catalogue,
                        &mut references,
                        &mut report,
                    );
                }
            }
        }
    }
    report.insert(references.dangling());
    report
}
