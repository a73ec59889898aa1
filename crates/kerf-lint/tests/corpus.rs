//! The corpus of objects beside the CRDs: each says how an API server judges it, and the linter
//! must say the same, for the same reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kerf_lint::{Catalogue, Finding, Input, lint};
use serde_json::Value;

const EXPECT: &str = "/metadata/annotations/kerf.test~1expect";

fn corpus() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kerf-api/tests/corpus");
    let entries = fs::read_dir(folder).expect("the corpus exists");
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
            (name.to_owned(), fs::read_to_string(&path).expect("readable"))
        })
        .collect()
}

/// Why the findings are not what the corpus expects, if they are not.
fn disagreement(expected: &str, findings: &[&Finding]) -> Option<String> {
    let said = || {
        let lines: Vec<String> =
            findings.iter().map(|f| format!("{}: {} [{}]", f.field, f.message, f.rule)).collect();
        lines.join("; ")
    };
    match expected.split_once(':') {
        None if expected == "accepted" => {
            (!findings.is_empty()).then(|| format!("should be accepted, but {}", said()))
        }
        Some(("rejected", reason)) => {
            let reason = reason.trim();
            let named = findings.iter().any(|finding| {
                [&finding.field, &finding.message, &finding.rule].iter().any(|t| t.contains(reason))
            });
            (!named).then(|| format!("should be rejected for {reason:?}; said: {}", said()))
        }
        _ => Some(format!("the expectation {expected:?} is not understood")),
    }
}

#[test]
fn every_object_of_the_corpus_is_judged_as_an_api_server_judges_it() {
    let catalogue = Catalogue::new(&kerf_api::crds()).expect("our CRDs have a JSON form");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (file, text) in corpus() {
        let report = lint(&[Input::new(file.as_str(), text.as_str())], &catalogue);
        assert!(report.skipped.is_empty(), "{file} holds a kind that is not ours");
        assert_eq!(report.findings_not_listed, 0, "{file} has more findings than are listed");
        let objects: Vec<Value> = serde_saphyr::from_multiple(&text).expect("the corpus is YAML");
        for (place, object) in objects.iter().enumerate() {
            let expected = object.pointer(EXPECT).and_then(Value::as_str).expect("an expectation");
            let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("?");
            let of_object = |finding: &&Finding| finding.document == place + 1;
            let findings: Vec<&Finding> = report.findings.iter().filter(of_object).collect();
            wrong.extend(
                disagreement(expected, &findings).map(|why| format!("{file} {name}: {why}")),
            );
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 400, "only {count} objects in the corpus");
}
