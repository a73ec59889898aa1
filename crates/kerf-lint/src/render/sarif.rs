//! The report as SARIF 2.1.0, which code scanning services read.

use serde_json::{Value, json};

use crate::report::{Finding, Report, Severity};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The report as SARIF, indented, with a line end. `version` is that of the program.
pub fn to_sarif(report: &Report, version: &str) -> String {
    let rules = rules(report);
    let results = report.findings.iter().map(|finding| result(finding, &rules));
    let driver = json!({
        "name": "kerf lint",
        "version": version,
        "rules": rules.iter().map(|rule| json!({
            "id": rule,
            "shortDescription": {"text": about(rule)},
        })).collect::<Vec<_>>(),
    });
    let run = json!({
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation(report)],
        "results": results.collect::<Vec<_>>(),
    });
    let log = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
    format!("{log:#}\n")
}

/// The rules that were broken, in order of name.
fn rules(report: &Report) -> Vec<String> {
    let mut rules: Vec<String> = report.findings.iter().map(rule_id).collect();
    rules.sort();
    rules.dedup();
    rules
}

/// A rule's name without blanks: `unknown-field`.
fn rule_id(finding: &Finding) -> String {
    finding.keyword.replace(' ', "-")
}

fn about(rule: &str) -> String {
    match rule {
        "yaml" => "The document is not YAML as kubectl reads it".to_owned(),
        "cel" => "A validation rule of the custom resource definition".to_owned(),
        "controller" => "The controller refuses what the API server stores".to_owned(),
        "unknown-value" => "A value that no node has".to_owned(),
        "unknown-field" => "A field that the API server does not know".to_owned(),
        "reference" => "An object that is named and not there".to_owned(),
        other => format!("The rule {other} of the API server"),
    }
}

fn result(finding: &Finding, rules: &[String]) -> Value {
    let rule = rule_id(finding);
    let mut text = finding.message.clone();
    if let Some(instead) = &finding.instead {
        text = format!("{text}; write: {instead}");
    }
    let mut physical = json!({"artifactLocation": {"uri": uri(&finding.file)}});
    if let Some(position) = finding.position {
        physical["region"] = json!({"startLine": position.line, "startColumn": position.column});
    }
    json!({
        "ruleId": rule,
        "ruleIndex": rules.iter().position(|one| *one == rule),
        "level": match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": {"text": text},
        "locations": [{
            "physicalLocation": physical,
            "logicalLocations": [{"fullyQualifiedName": finding.title()}],
        }],
    })
}

/// Whether everything could be read, and what could not.
fn invocation(report: &Report) -> Value {
    let unread = report.unreadable.iter().map(|unreadable| {
        json!({
            "level": "error",
            "message": {"text": format!("cannot be read: {}", unreadable.reason)},
            "locations": [{
                "physicalLocation": {"artifactLocation": {"uri": uri(&unreadable.file)}},
            }],
        })
    });
    let notes = report.notes.iter().map(|note| json!({"level": "note", "message": {"text": note}}));
    let more = (report.findings_not_listed > 0).then(|| {
        let text = format!("{} more findings are not listed", report.findings_not_listed);
        json!({"level": "warning", "message": {"text": text}})
    });
    let notifications: Vec<Value> = unread.chain(notes).chain(more).collect();
    json!({
        "executionSuccessful": report.unreadable.is_empty(),
        "toolExecutionNotifications": notifications,
    })
}

/// A path as a URI reference; standard input has a name of its own.
fn uri(file: &str) -> String {
    if file == "-" {
        return "stdin".to_owned();
    }
    let mut uri = String::new();
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
