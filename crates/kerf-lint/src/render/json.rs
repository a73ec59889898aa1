//! The report as JSON. The shape is documented in `docs/lint.md` and carries a version.

use serde::Serialize;

use crate::report::{Finding, Report, Severity, Unreadable};

/// The version of the shape. A field may be added without a new version; none is taken away.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shape<'a> {
    version: u32,
    findings: Vec<FindingShape<'a>>,
    findings_not_listed: usize,
    documents: usize,
    skipped: Vec<SkippedShape<'a>>,
    unreadable: &'a [Unreadable],
    notes: &'a [String],
}

#[derive(Serialize)]
struct FindingShape<'a> {
    severity: Severity,
    file: &'a str,
    document: usize,
    line: Option<usize>,
    column: Option<usize>,
    kind: Option<&'a str>,
    name: Option<&'a str>,
    field: &'a str,
    rule: &'a str,
    message: &'a str,
    instead: Option<&'a str>,
}

#[derive(Serialize)]
struct SkippedShape<'a> {
    kind: &'a str,
    count: usize,
    reason: &'static str,
}

/// The report as JSON, indented, with a line end.
pub fn to_json(report: &Report) -> String {
    let shape = Shape {
        version: VERSION,
        findings: report.findings.iter().map(FindingShape::from).collect(),
        findings_not_listed: report.findings_not_listed,
        documents: report.documents,
        skipped: report
            .skipped
            .iter()
            .map(|(kind, count)| SkippedShape { kind, count: *count, reason: "not a Kerf kind" })
            .collect(),
        unreadable: &report.unreadable,
        notes: &report.notes,
    };
    let text = serde_json::to_string_pretty(&shape);
    let mut text = text.expect("strings and numbers always have a JSON form");
    text.push('\n');
    text
}

impl<'a> From<&'a Finding> for FindingShape<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            severity: finding.severity,
            file: &finding.file,
            document: finding.document,
            line: finding.position.map(|position| position.line),
            column: finding.position.map(|position| position.column),
            kind: finding.kind.as_deref(),
            name: finding.name.as_deref(),
            field: &finding.field,
            rule: &finding.rule,
            message: &finding.message,
            instead: finding.instead.as_deref(),
        }
    }
}
