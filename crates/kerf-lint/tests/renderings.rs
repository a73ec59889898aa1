//! Warnings, references, and the forms for code hosts.

mod support;

use kerf_lint::{
    Colour, Input, Outcome, Report, SemanticFinding, Severity, lint, to_github, to_json, to_sarif,
    to_text,
};
use serde_json::{Value, json};
use support::{catalogue, catalogue_of};

const THING: &str = "apiVersion: kerf.test/v1\nkind: Thing\nmetadata: {name: a}\nspec: {v: x}\n";
const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\n\
    spec:\n  template:\n    spec:\n      nodeClassRef:\n        group: karpenter.k8s.aws\n        \
    kind: EC2NodeClass\n        name: defalt\n      requirements: []\n";
const CLASS: &str =
    "---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n";

/// A kind whose values people are warned of, whatever they are.
fn hinted(text: &str) -> Report {
    let schema = json!({"type": "object", "properties": {"v": {"type": "string"}}});
    let hint = |object: &Value| match object.pointer("/spec/v") {
        Some(value) => vec![SemanticFinding {
            field: "spec.v".to_owned(),
            rule: "v".to_owned(),
            message: format!("there is no {value}, 100%"),
            instead: Some("y".to_owned()),
        }],
        None => Vec::new(),
    };
    lint(&[Input::new("a b.yaml", text)], &catalogue_of(&schema).with_hints(Box::new(hint)))
}

#[test]
fn warnings_are_told_and_are_no_findings() {
    let report = hinted(THING);
    assert_eq!(report.outcome(), Outcome::Warnings);
    let text = to_text(&report, Colour::Never);
    assert!(text.contains("  warning: there is no \"x\", 100%   [unknown value v]\n"), "{text}");
    assert!(text.ends_with("1 document, 0 findings, 1 warning\n"), "{text}");
    let json: Value = serde_json::from_str(&to_json(&report)).expect("JSON");
    assert_eq!(json["findings"][0]["severity"], "warning");
}

#[test]
fn a_field_that_is_refused_is_not_warned_of_too() {
    let report = hinted(&THING.replace("v: x", "v: 1"));
    assert_eq!(report.findings.len(), 1, "{report:?}");
    assert_eq!(report.findings[0].severity, Severity::Error);
}

#[test]
fn a_class_that_is_named_and_not_there_is_told_with_the_nearest_that_is() {
    let report = lint(&[Input::new("a.yaml", format!("{POOL}{CLASS}"))], &catalogue());
    let [finding] = report.findings.as_slice() else { panic!("{report:?}") };
    assert_eq!(finding.field, "spec.template.spec.nodeClassRef.name");
    assert_eq!(finding.position.map(|at| (at.line, at.column)), Some((10, 15)));
    assert_eq!(finding.instead.as_deref(), Some("default"));
    assert_eq!(finding.severity, Severity::Warning);
    // The class may also stand in another file, and before the pool.
    let inputs = [Input::new("b.yaml", CLASS), Input::new("a.yaml", POOL)];
    assert_eq!(lint(&inputs, &catalogue()).findings.len(), 1);
}

#[test]
fn files_without_classes_are_not_all_there_is() {
    assert_eq!(lint(&[Input::new("a.yaml", POOL)], &catalogue()).findings, []);
    let right = POOL.replace("defalt", "default");
    let inputs = [Input::new("a.yaml", right), Input::new("b.yaml", CLASS)];
    assert_eq!(lint(&inputs, &catalogue()).findings, []);
}

#[test]
fn github_shows_each_finding_at_its_line() {
    let text = to_github(&hinted(THING));
    let expected = "::warning file=a b.yaml,line=4,col=11,title=Thing/a  spec.v::there is no \"x\", \
                    100%25; write: y\n";
    assert_eq!(text, expected);
    let text = to_github(&hinted(&THING.replace("v: x", "v: 1")));
    assert!(text.starts_with("::error file=a b.yaml,line=4,col=11,"), "{text}");
    let text = to_github(&lint(&[Input::new("x", *b"a: \xff")], &catalogue()));
    assert_eq!(text, "::error file=x::cannot be read: not UTF-8 text (line 1)\n");
}

#[test]
fn sarif_has_rules_results_and_places() {
    let log: Value = serde_json::from_str(&to_sarif(&hinted(THING), "1.2.3")).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["version"], "1.2.3");
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "unknown-value");
    let result = &run["results"][0];
    assert_eq!((&result["ruleIndex"], &result["level"]), (&json!(0), &json!("warning")));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.yaml");
    assert_eq!(place["region"], json!({"startLine": 4, "startColumn": 11}));
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let unread = lint(&[Input::new("x", *b"a: \xff")], &catalogue());
    let log: Value = serde_json::from_str(&to_sarif(&unread, "1")).expect("JSON");
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
}
