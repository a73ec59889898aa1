//! Why pods find no place: pods in, texts out.
//!
//! Each file in `reasons/` holds pools and whatever else there is, and cases: `pod: NAME` with the
//! parts of a pod that matter. All go through `kerf plan` together, and the file beside it says what
//! each case must be told. `KERF_BLESS=1` writes those files anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reasons");
const CATALOGUES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios/catalogues");
/// The issue of this table: fewer would leave kinds of reasons out.
const CASES_MIN: usize = 60;
/// Longer texts are cut in Events and not read in terminals.
const TEXT_CHARS_MAX: usize = 400;

#[test]
fn every_pod_without_a_place_is_told_the_nearest_reason_and_the_smallest_change() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(FOLDER)
        .expect("a folder of cases")
        .map(|entry| entry.expect("an entry of a folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    let answers: Vec<(PathBuf, BTreeMap<String, String>)> = std::thread::scope(|scope| {
        let run = |file: &PathBuf| (file.clone(), reasons(file));
        let threads: Vec<_> = files.iter().map(|file| scope.spawn(move || run(file))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a plan was made")).collect()
    });
    let count: usize = answers.iter().map(|(_, texts)| texts.len()).sum();
    assert!(count >= CASES_MIN, "{count} cases, fewer than {CASES_MIN}");
    let mut complaints = Vec::new();
    for (file, texts) in &answers {
        complaints.extend(compare(file, texts).err());
        for (pod, text) in texts {
            complaints.extend(fault(text).map(|fault| format!("{pod}: {fault}: {text}")));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What no reason may look like.
fn fault(text: &str) -> Option<&'static str> {
    let says_change = text.contains("; ");
    // After a number stands a unit, which may come again.
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let words: Vec<&str> = text.split(' ').collect();
    let keys = words.windows(2).filter(|pair| pair[1].contains('/') && !is_number(pair[0]));
    let keys: Vec<&str> = keys.map(|pair| pair[1]).collect();
    let repeats = keys.iter().enumerate().any(|(place, key)| keys[place + 1..].contains(key));
    match text {
        _ if text.contains("known values") => Some("speaks of known values"),
        _ if text.chars().count() > TEXT_CHARS_MAX => Some("is too long"),
        _ if !says_change => Some("says nothing to do"),
        _ if repeats => Some("names a key twice"),
        _ => None,
    }
}

/// The reasons for the cases of a file, by pod.
fn reasons(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).expect("a file of cases");
    let mut catalogue = "aws:us-east-1".to_owned();
    if let Some(named) = text.lines().next().and_then(|line| line.strip_prefix("# catalogue: ")) {
        let path = format!("{CATALOGUES}/{named}.json");
        catalogue = if Path::new(&path).exists() { path } else { named.to_owned() };
    }
    let mut cases = Vec::new();
    let mut documents = Vec::new();
    for document in text.split("\n---\n") {
        let value: Value = serde_saphyr::from_str(document).expect("a document");
        match value.get("pod") {
            None => documents.push(value),
            Some(name) => {
                cases.push(name.as_str().expect("a name").to_owned());
                documents.push(pod(&value));
            }
        }
    }
    let plan = plan(&documents, &catalogue);
    let unschedulable = plan["unschedulable"].as_array().expect("a list");
    let mut texts = BTreeMap::new();
    for it in unschedulable {
        let name = it["pod"].as_str().unwrap_or_default();
        let name = name.strip_prefix("default/").unwrap_or(name);
        texts.insert(name.to_owned(), it["reason"].as_str().unwrap_or_default().to_owned());
    }
    for case in &cases {
        texts.entry(case.clone()).or_insert_with(|| "has a place; and should not".to_owned());
    }
    texts
}

/// A case as the pod it stands for.
fn pod(case: &Value) -> Value {
    let requests = case.get("requests").cloned().unwrap_or_else(|| json!({"cpu": "1"}));
    // Devices cannot be asked for without a limit.
    let devices = requests.as_object().into_iter().flatten();
    let devices = devices.filter(|(name, _)| name.contains('/') || name.starts_with("huge"));
    let limits: serde_json::Map<_, _> =
        devices.map(|(name, amount)| (name.clone(), amount.clone())).collect();
    let ports = case.get("ports").cloned().unwrap_or_else(|| json!([]));
    let container = json!({
        "name": "app", "image": "app", "ports": ports,
        "resources": {"requests": requests, "limits": limits},
    });
    let mut spec = case.get("spec").cloned().unwrap_or_else(|| json!({}));
    spec["containers"] = json!([container]);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": case["pod"], "labels": case.get("labels").unwrap_or(&json!({}))},
        "spec": spec,
    })
}

fn plan(documents: &[Value], catalogue: &str) -> Value {
    let text: Vec<String> = documents.iter().map(ToString::to_string).collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .args(["plan", "-f", "-", "-o", "json", "--catalogue", catalogue])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kerf starts");
    let mut stdin = child.stdin.take().expect("it was piped");
    let _ = stdin.write_all(text.join("\n---\n").as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("kerf ends");
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{said}"))
}

/// Holds the texts against the file beside the cases.
fn compare(file: &Path, texts: &BTreeMap<String, String>) -> Result<(), String> {
    let mut found = String::new();
    for (pod, text) in texts {
        let _ = writeln!(found, "{pod}\n  {text}");
    }
    let expected = file.with_extension("expected");
    if std::env::var_os("KERF_BLESS").is_some() {
        std::fs::write(&expected, &found).expect("the expected texts can be written");
        return Ok(());
    }
    let wanted = std::fs::read_to_string(&expected).unwrap_or_default();
    if wanted == found {
        return Ok(());
    }
    Err(format!("{}\n--- expected\n{wanted}--- found\n{found}", file.display()))
}
