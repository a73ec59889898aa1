//! The run as a whole: what is read, what is counted, how it ends, and what bounds it.

mod support;

use std::fs;

use kerf_lint::{
    Colour, FINDINGS_PER_DOCUMENT_MAX, Input, Outcome, Report, SemanticFinding, gather, lint,
    to_json, to_text,
};
use serde_json::{Value, json};
use support::{catalogue, catalogue_of};

const CLEAN: &str = "apiVersion: kerf.test/v1\nkind: Thing\nmetadata: {name: a}\nspec: {v: x}\n";

fn lint_text(text: &str) -> Report {
    let schema = json!({"type": "object", "properties": {"v": {"type": "string"}}});
    lint(&[Input::new("a.yaml", text)], &catalogue_of(&schema))
}

#[test]
fn the_outcome_is_clean_findings_or_unreadable() {
    let unreadable = lint(&[Input::new("x", *b"a: \xff")], &catalogue());
    let rows = [
        (lint_text(CLEAN), Outcome::Clean),
        (lint_text(&CLEAN.replace("v: x", "v: 1")), Outcome::Findings),
        (unreadable, Outcome::Unreadable),
        (lint_text(""), Outcome::Clean),
        (lint_text("# only a comment\n---\n\n---\n# another\n"), Outcome::Clean),
    ];
    for (report, outcome) in rows {
        assert_eq!(report.outcome(), outcome, "{report:?}");
    }
}

#[test]
fn folders_are_read_in_order_and_what_is_missing_is_named() {
    let folder = std::env::temp_dir().join(format!("kerf-lint-gather-{}", std::process::id()));
    fs::create_dir_all(folder.join("b")).expect("a folder");
    for (name, text) in [("c.yaml", CLEAN), ("b/a.json", "{}"), ("a.yml", CLEAN), ("d.txt", "x")] {
        fs::write(folder.join(name), text).expect("a file");
    }
    let names = [folder.display().to_string(), "no-such-file".to_owned(), "-".to_owned()];
    let inputs = gather(&names, CLEAN.as_bytes());
    fs::remove_dir_all(&folder).expect("removed");
    let short: Vec<(&str, bool)> = inputs
        .iter()
        .map(|input| (input.name.rsplit('/').next().unwrap_or_default(), input.bytes.is_ok()))
        .collect();
    let expected =
        [("a.yml", true), ("a.json", true), ("c.yaml", true), ("no-such-file", false), ("-", true)];
    assert_eq!(short, expected);
}

#[test]
fn the_json_has_the_documented_shape() {
    let report = lint_text(&format!("{}---\nkind: Deployment\n", CLEAN.replace("v: x", "v: 1")));
    let value: Value = serde_json::from_str(&to_json(&report)).expect("JSON");
    assert_eq!(
        value,
        json!({
            "version": 1,
            "findings": [{
                "severity": "error", "file": "a.yaml", "document": 1, "line": 4, "column": 11, "kind": "Thing",
                "name": "a", "field": "spec.v", "rule": "type string",
                "message": "1 is an integer; this must be a string", "instead": "\"1\"",
            }],
            "findingsNotListed": 0,
            "documents": 2,
            "skipped": [{"kind": "Deployment", "count": 1, "reason": "not a Kerf kind"}],
            "unreadable": [],
            "notes": [],
        })
    );
}

#[test]
fn findings_beyond_the_bound_are_counted_and_not_listed() {
    let fields: String = (0..150).map(|n| format!("  field{n}: x\n")).collect();
    let report = lint_text(&format!("{}{fields}", CLEAN.replace("spec: {v: x}", "spec:")));
    assert_eq!(report.findings.len(), FINDINGS_PER_DOCUMENT_MAX);
    assert_eq!(report.findings_not_listed, 50);
    assert!(to_text(&report, Colour::Never).ends_with("150 findings, 50 of them not listed\n"));
}

#[test]
fn a_document_that_unfolds_without_end_is_refused() {
    let mut bomb = String::from("a: &a [x,x,x,x,x,x,x,x,x,x]\n");
    for (previous, next) in ('a'..'y').zip('b'..'z') {
        let aliases = vec![format!("*{previous}"); 10].join(",");
        bomb.push_str(&format!("{next}: &{next} [{aliases}]\n"));
    }
    let report = lint_text(&bomb);
    assert!(report.findings[0].message.contains("too large"), "{report:?}");
    let report = lint_text("a: &a [*a]\n");
    assert!(report.findings[0].message.contains("inside the very value"), "{report:?}");
}

#[test]
fn deep_nesting_is_refused_in_text_in_flow_and_through_aliases() {
    let block: String = (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let flow = "[".repeat(100_000);
    let mut aliases = String::from("a0: &a0 [x]\n");
    for depth in 1..500 {
        aliases.push_str(&format!("a{depth}: &a{depth} [*a{}]\n", depth - 1));
    }
    for text in [block, flow, aliases] {
        assert_eq!(lint_text(&text).outcome(), Outcome::Findings);
    }
}

#[test]
fn a_check_of_the_controller_adds_to_an_object_the_server_accepts() {
    let schema = json!({"type": "object", "properties": {"v": {"type": "string"}}});
    let catalogue = catalogue_of(&schema).with_check(Box::new(|object| {
        assert_eq!(object["spec"]["v"], "x");
        vec![SemanticFinding {
            field: "spec.v".to_owned(),
            rule: "taste".to_owned(),
            message: "x is out of fashion".to_owned(),
            instead: Some("y".to_owned()),
        }]
    }));
    let report = lint(&[Input::new("a.yaml", CLEAN)], &catalogue);
    assert_eq!(
        to_text(&report, Colour::Never),
        "a.yaml:4:11  Thing/a  spec.v\n  x is out of fashion   [controller taste]\n  write: y\n\
         1 document, 1 finding\n"
    );
}

#[test]
fn text_from_a_manifest_cannot_move_the_terminal() {
    let report = lint_text(&CLEAN.replace("v: x", "\"\\e[31m\\n\": x"));
    let text = to_text(&report, Colour::Never);
    assert!(!text.contains('\u{1b}') && text.contains("\\u{1b}[31m\\n"), "{text}");
}

#[test]
fn colour_is_only_there_when_asked_for() {
    let report = lint_text(&CLEAN.replace("v: x", "v: 1"));
    assert!(to_text(&report, Colour::Always).contains("\u{1b}[1m"));
    assert!(!to_text(&report, Colour::Never).contains('\u{1b}'));
}
