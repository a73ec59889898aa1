//! Any bytes give a report. `KERF_FUZZ_CASES` says how many are tried.

mod support;

use std::sync::OnceLock;

use kerf_lint::{Colour, Input, lint, to_json, to_text};
use proptest::prelude::*;
use proptest::test_runner::Config;

const CASES_DEFAULT: u32 = 5_000;

/// Pieces that YAML gives a meaning, so that random texts reach deep.
const PIECES: [&str; 44] = [
    "a",
    "kind",
    ": ",
    ":",
    "- ",
    "-",
    "\n",
    "\n  ",
    "\n    ",
    "\t",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\"",
    "'",
    "&x ",
    "*x",
    "<<: ",
    "!!int ",
    "!!str ",
    "! ",
    "| ",
    "|\n",
    ">-\n",
    "#",
    " # ",
    "---\n",
    "\n---\n",
    "...\n",
    "%YAML 1.2\n",
    "? ",
    "~",
    "yes",
    "0777",
    "1e999",
    ".inf",
    "\r\n",
    "\u{feff}",
    "é",
    "\u{0}",
    "{{ .Values.x }}",
    "NodePool",
];

fn config() -> Config {
    let wanted = std::env::var("KERF_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    Config {
        cases: wanted.unwrap_or(CASES_DEFAULT),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Lints the bytes and prints the report, and says what must hold of any report.
fn check(bytes: Vec<u8>) {
    thread_local! {
        static CATALOGUE: kerf_lint::Catalogue = support::catalogue();
    }
    // A lone carriage return ends a line of YAML too.
    let lines = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    let report = CATALOGUE.with(|catalogue| lint(&[Input::new("x", bytes)], catalogue));
    assert!(to_text(&report, Colour::Never).ends_with('\n'));
    assert!(serde_json::from_str::<serde_json::Value>(&to_json(&report)).is_ok());
    for finding in &report.findings {
        let position = finding.position.expect("each finding has a place");
        assert!((1..=lines).contains(&position.line) && position.column >= 1, "{finding:?}");
        assert!(!finding.message.is_empty() && !finding.rule.is_empty(), "{finding:?}");
    }
}

fn manifest() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| include_str!("cases/values.yaml").to_owned())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_give_a_report(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(bytes);
    }

    #[test]
    fn any_text_of_yaml_pieces_gives_a_report(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..60),
    ) {
        check(pieces.iter().map(|piece| PIECES[*piece]).collect::<String>().into_bytes());
    }

    #[test]
    fn a_manifest_with_a_piece_put_anywhere_gives_a_report(
        place in 0..1000_usize, removed in 0..12_usize, piece in 0..PIECES.len(),
    ) {
        let mut bytes = manifest().as_bytes().to_vec();
        let start = place.min(bytes.len());
        let end = (start + removed).min(bytes.len());
        bytes.splice(start..end, PIECES[piece].bytes());
        check(bytes);
    }
}
