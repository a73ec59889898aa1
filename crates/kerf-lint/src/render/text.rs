//! The report as a compiler would print it.

use std::fmt::Write;

use crate::report::{Finding, Report, Severity};

/// Longest rule printed in full; a longer CEL expression is cut, and stands whole in the JSON.
const RULE_CHARS_MAX: usize = 120;

/// Whether to colour the text. The caller knows whether a person is looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// With terminal colours.
    Always,
}

impl Colour {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Never => text.to_owned(),
            Self::Always => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// The report as text, ending in one line that sums it up.
pub fn to_text(report: &Report, colour: Colour) -> String {
    let mut out = String::new();
    for unreadable in &report.unreadable {
        let reason = printable(&unreadable.reason);
        let line = format!("{}  cannot be read: {reason}", printable(&unreadable.file));
        line_to(&mut out, &colour.paint("31", &line));
    }
    for finding in &report.findings {
        finding_to(&mut out, finding, colour);
    }
    for note in &report.notes {
        line_to(&mut out, &format!("note: {}", printable(note)));
    }
    line_to(&mut out, &summary(report));
    out
}

fn finding_to(out: &mut String, finding: &Finding, colour: Colour) {
    let mut place = finding.file.clone();
    if let Some(position) = finding.position {
        place = format!("{place}:{}:{}", position.line, position.column);
    }
    let mut head = colour.paint("1", &printable(&place));
    if let Some(object) = finding.object() {
        head = format!("{head}  {}", printable(&object));
    }
    if !finding.field.is_empty() {
        head = format!("{head}  {}", colour.paint("36", &printable(&finding.field)));
    }
    line_to(out, &head);
    let rule = colour.paint("2", &format!("[{}]", shortened(&printable(&finding.rule))));
    let warning = match finding.severity {
        Severity::Error => String::new(),
        Severity::Warning => format!("{} ", colour.paint("33", "warning:")),
    };
    line_to(out, &format!("  {warning}{}   {rule}", printable(&finding.message)));
    if let Some(instead) = &finding.instead {
        line_to(out, &format!("  write: {}", colour.paint("32", &printable(instead))));
    }
}

/// Text from a manifest may hold anything; what could move a terminal's cursor is shown instead.
pub fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => "\\n".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(shown).collect()
}

fn shortened(rule: &str) -> String {
    if rule.chars().count() <= RULE_CHARS_MAX {
        return rule.to_owned();
    }
    let start: String = rule.chars().take(RULE_CHARS_MAX).collect();
    format!("{start}…")
}

/// `3 documents, 2 findings, 1 skipped (Deployment)`.
fn summary(report: &Report) -> String {
    let mut parts = vec![
        counted(report.documents, "document"),
        counted(report.count(Severity::Error) + report.findings_not_listed, "finding"),
    ];
    let warnings = report.count(Severity::Warning);
    if warnings > 0 {
        parts.push(counted(warnings, "warning"));
    }
    if report.findings_not_listed > 0 {
        parts.push(format!("{} of them not listed", report.findings_not_listed));
    }
    let skipped: usize = report.skipped.values().sum();
    if skipped > 0 {
        let kinds: Vec<String> = report.skipped.keys().map(|kind| printable(kind)).collect();
        parts.push(format!("{skipped} skipped ({})", kinds.join(", ")));
    }
    if !report.unreadable.is_empty() {
        parts.push(format!("{} unreadable", report.unreadable.len()));
    }
    parts.join(", ")
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

fn line_to(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("writing to a String cannot fail");
}
