//! Manifests and what is said of them: `cases/NAME.yaml` beside `cases/NAME.expected`.
//!
//! With `KERF_BLESS=1` the expected files are written anew; read the difference before keeping it.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use kerf_lint::{Colour, Input, lint, to_text};

fn manifests() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = fs::read_dir(folder).expect("the folder of cases exists");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml" || e == "json"));
    paths.sort();
    paths
}

#[test]
fn every_case_reads_as_expected() {
    let catalogue = support::catalogue();
    let bless = std::env::var_os("KERF_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in manifests() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        let bytes = fs::read(&path).expect("readable");
        let text = to_text(&lint(&[Input::new(name, bytes)], &catalogue), Colour::Never);
        let expected_path = path.with_extension("expected");
        if bless {
            fs::write(&expected_path, &text).expect("writable");
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if text != expected {
            wrong.push(format!("{name} gives\n{text}\nand not\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
