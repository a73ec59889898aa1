//! The report as workflow commands of GitHub Actions, which show each finding beside its line.

use std::fmt::Write;

use crate::report::{Finding, Report, Severity};

/// The report as workflow commands, one line each.
pub fn to_github(report: &Report) -> String {
    let mut out = String::new();
    for unreadable in &report.unreadable {
        let message = format!("cannot be read: {}", unreadable.reason);
        command(&mut out, "error", &[("file", unreadable.file.clone())], &message);
    }
    for finding in &report.findings {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        command(&mut out, level, &properties(finding), &message(finding));
    }
    for note in &report.notes {
        command(&mut out, "notice", &[], note);
    }
    if report.findings_not_listed > 0 {
        let more = format!("{} more findings are not listed", report.findings_not_listed);
        command(&mut out, "error", &[], &more);
    }
    out
}

fn properties(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut properties = vec![("file", finding.file.clone())];
    if let Some(position) = finding.position {
        properties.push(("line", position.line.to_string()));
        properties.push(("col", position.column.to_string()));
    }
    properties.push(("title", finding.title()));
    properties
}

fn message(finding: &Finding) -> String {
    match &finding.instead {
        Some(instead) => format!("{}; write: {instead}", finding.message),
        None => finding.message.clone(),
    }
}

fn command(out: &mut String, level: &str, properties: &[(&str, String)], message: &str) {
    let listed: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let blank = if listed.is_empty() { "" } else { " " };
    let line = format!("::{level}{blank}{}::{}", listed.join(","), data(message));
    writeln!(out, "{line}").expect("writing to a String cannot fail");
}

/// A message with what would end it written as the runner reads it back.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
