//! `kerf replay` as a program, over journals of simulated engines.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// A file that goes with the test.
struct TestFile(PathBuf);

impl TestFile {
    fn new(name: &str) -> Self {
        let name = format!("kerf-replay-{name}-{}.jsonl", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// The journal of a short scenario.
    fn of_simulation(name: &str) -> Self {
        static JOURNAL: LazyLock<String> = LazyLock::new(TestFile::simulated);
        let file = Self::new(name);
        fs::write(&file.0, &*JOURNAL).unwrap();
        file
    }

    fn simulated() -> String {
        let file = Self::new("simulated");
        let scenario =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/inflate.yaml");
        let journal = ["--journal", file.0.to_str().unwrap()];
        let (code, said) = kerf(["simulate", scenario].into_iter().chain(journal));
        assert_eq!(code, 0, "{said}");
        fs::read_to_string(&file.0).unwrap()
    }

    fn change(&self, change: impl Fn(String) -> String) {
        fs::write(&self.0, change(fs::read_to_string(&self.0).unwrap())).unwrap();
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn kerf<'a>(arguments: impl IntoIterator<Item = &'a str>) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_kerf")).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

fn replay(journal: &Path, arguments: &[&str]) -> (i32, String) {
    kerf(["replay", journal.to_str().unwrap()].into_iter().chain(arguments.iter().copied()))
}

#[test]
fn a_journal_that_was_written_replays_exactly() {
    let journal = TestFile::of_simulation("equal");
    let (code, said) = replay(&journal.0, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("every action came out equal"), "{said}");

    let (code, said) = replay(&journal.0, &["-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &report["equal"]), (0, &true.into()), "{said}");
    assert!(report["actions"].as_u64().unwrap() > 0, "{said}");

    let (code, said) = replay(&journal.0, &["-o", "json", "--until", "2026-01-05T00:00:10Z"]);
    let shorter: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(code, 0, "{said}");
    assert!(shorter["events"].as_u64() < report["events"].as_u64(), "{said}");
}

#[test]
fn an_action_that_differs_is_shown_and_ends_with_1() {
    let journal = TestFile::of_simulation("different");
    journal.change(|text| text.replacen("\"CreateClaim\"", "\"CreateNothing\"", 1));
    let (code, said) = replay(&journal.0, &[]);
    assert_eq!(code, 1, "{said}");
    for part in ["differs at 2026-", "After", "Expected", "CreateNothing", "Actual"] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    let (code, said) = replay(&journal.0, &["-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &report["equal"]), (1, &false.into()), "{said}");
    assert!(report["difference"]["line"].as_u64().unwrap() > 1, "{said}");
}

#[test]
fn what_cannot_be_read_is_said_and_ends_with_2() {
    let (code, said) = replay(Path::new("/nowhere/journal"), &[]);
    assert!(code == 1 && said.contains("cannot read /nowhere/journal"), "{said}");
    let file = TestFile::new("other");
    let cases = [
        ("kind: Pod\n", "not a journal"),
        ("", "the journal is empty"),
        ("{\"kerf_journal\":9,\"kerf_version\":\"4.0.0\"}\n", "format version 9"),
    ];
    for (text, part) in cases {
        fs::write(&file.0, text).unwrap();
        let (code, said) = replay(&file.0, &[]);
        assert!(code == 1 && said.contains(part), "{text:?}: {said}");
    }
}

#[test]
fn a_journal_without_decisions_is_not_called_equal() {
    let journal = TestFile::of_simulation("undecided");
    let (code, said) = replay(&journal.0, &["--until", "2020-01-01T00:00:00Z"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("there was nothing to compare"), "{said}");
    assert!(!said.contains("came out equal"), "{said}");
}

#[test]
fn a_last_line_that_breaks_off_is_passed_over() {
    let journal = TestFile::of_simulation("broken");
    journal.change(|text| text[..text.len() - 20].to_owned());
    let (code, said) = replay(&journal.0, &[]);
    assert!(code == 0 && said.contains("the last line breaks off"), "{said}");
}
