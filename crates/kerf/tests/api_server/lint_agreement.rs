//! `kerf lint` gives the verdict of a real API server on every object of the corpus, and both give
//! the verdict that stands in the object's annotation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::server::{Server, in_workspace};

const EXPECT: &str = "kerf.test/expect";

/// One object of the corpus and what is expected of it.
struct Case {
    file: String,
    document: usize,
    object: Value,
    /// Part of the rejection's message, or nothing when the object is accepted.
    rejection: Option<String>,
}

fn corpus_folder() -> String {
    in_workspace("crates/kerf-api/tests/corpus")
}

fn corpus() -> Vec<Case> {
    let mut cases = Vec::new();
    let entries = std::fs::read_dir(corpus_folder()).expect("the corpus is in the tree");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a corpus file");
        let objects: Vec<Value> = serde_saphyr::from_multiple(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let objects = objects.into_iter().filter(|object| !object.is_null());
        for (index, object) in objects.enumerate() {
            let file = path.file_name().expect("a file").to_string_lossy().into_owned();
            let expect = object["metadata"]["annotations"][EXPECT].as_str();
            let rejection = match expect {
                Some("accepted") => None,
                Some(text) => Some(text.strip_prefix("rejected: ").expect("a verdict").to_owned()),
                None => panic!("{file}: object {} has no annotation {EXPECT}", index + 1),
            };
            cases.push(Case { file, document: index + 1, object, rejection });
        }
    }
    cases
}

/// Which objects, by file and name, `kerf lint` says an API server would refuse, with its findings.
fn lint() -> BTreeMap<(String, String), Vec<String>> {
    let output = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .args(["lint", "--output", "json", "--filename", &corpus_folder()])
        .output()
        .expect("kerf runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("kerf prints JSON");
    assert_eq!(report["unreadable"], serde_json::json!([]));
    let mut refused: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for finding in report["findings"].as_array().expect("a list") {
        // The controller's findings, and warnings, are about objects that an API server accepts.
        let is_of_controller =
            finding["rule"].as_str().is_some_and(|rule| rule.starts_with("controller"));
        if is_of_controller || finding["severity"] == "warning" {
            continue;
        }
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let file = text("file").rsplit('/').next().unwrap_or_default().to_owned();
        let line = format!("{}: {} [{}]", text("field"), text("message"), text("rule"));
        refused.entry((file, text("name"))).or_default().push(line);
    }
    refused
}

#[tokio::test(flavor = "multi_thread")]
async fn lint_server_and_annotation_agree_on_the_whole_corpus() {
    let server = Server::connect().await;
    let cases = corpus();
    let refused_by_lint = lint();
    let mut disagreements = String::new();
    let mut seen = BTreeSet::new();
    let (mut accepted, mut rejected) = (0, 0);
    for Case { file, document, object, rejection } in &cases {
        let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
        assert!(seen.insert((file.clone(), name.clone())), "{file}: {name} occurs twice");
        let answer = server.verdict(object).await;
        let findings = refused_by_lint.get(&(file.clone(), name.clone()));
        let as_expected = match (&answer, rejection) {
            (Ok(()), None) => true,
            (Err(message), Some(part)) => message.contains(part.as_str()),
            _ => false,
        };
        if !as_expected || answer.is_err() != findings.is_some() {
            let expected = rejection.as_deref().unwrap_or("accepted");
            writeln!(
                disagreements,
                "{file} document {document}, {name}: expected {expected}\n  server: {answer:?}\n  \
                 lint: {findings:?}"
            )
            .expect("writing to a string");
        }
        if answer.is_ok() { accepted += 1 } else { rejected += 1 }
    }
    assert!(disagreements.is_empty(), "{disagreements}");
    assert!(accepted >= 200 && rejected >= 300, "{accepted} accepted, {rejected} rejected");
    println!("{accepted} objects accepted, {rejected} rejected, alike");
}
