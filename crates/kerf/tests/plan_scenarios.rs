//! Scenarios: manifests in, plan out.
//!
//! Each file in `scenarios/` is named by the sentence it proves. Its last document is the plan
//! that is expected; the documents before it go through `kerf plan` as they are. The instance types
//! are those of a file in `catalogues/`, by default three sizes of 2, 4 and 8 CPUs in three zones.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios");
const CATALOGUE_DEFAULT: &str = "three-sizes";

/// The last document of a scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    plan: ExpectedPlan,
}

/// A plan. What is not listed must not be there.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct ExpectedPlan {
    /// Arguments of the command; a catalogue may be one of `catalogues/`.
    flags: BTreeMap<String, String>,
    /// The file of the scheduler's settings, written out.
    scheduler_config: Option<Value>,
    new_nodes: Vec<ExpectedNode>,
    existing_nodes: BTreeMap<String, String>,
    /// Pods, and what the reason must say.
    unschedulable: BTreeMap<String, String>,
    /// What must be said beside the plan.
    notes: Vec<String>,
}

/// A node to launch. Only what is given is compared; all nodes of a plan give the same.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedNode {
    /// How many such nodes there are.
    #[serde(default = "one")]
    count: usize,
    pool: Option<String>,
    #[serde(rename = "type")]
    instance_type: Option<String>,
    zone: Option<String>,
    capacity: Option<String>,
    price: Option<f64>,
    /// How many types it may be.
    options: Option<usize>,
    /// `web x2, db`: replicas are counted, others named.
    pods: String,
}

/// What `kerf plan -o json` prints.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plan {
    new_nodes: Vec<NewNode>,
    existing_nodes: Vec<ExistingNode>,
    unschedulable: Vec<Unschedulable>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewNode {
    node_pool: String,
    instance_type: String,
    zone: String,
    capacity_type: String,
    price_per_hour: f64,
    instance_type_options: usize,
    pods: Vec<String>,
}

#[derive(Deserialize)]
struct ExistingNode {
    name: String,
    pods: Vec<String>,
}

#[derive(Deserialize)]
struct Unschedulable {
    pod: String,
    reason: String,
}

#[test]
fn every_scenario_gets_the_plan_it_states() {
    let mut files = Vec::new();
    scenarios(Path::new(FOLDER), &mut files);
    assert!(!files.is_empty(), "no scenario in {FOLDER}");
    files.sort();
    let failures: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let said = check(file).err()?;
            let name = file.strip_prefix(FOLDER).unwrap_or(file).display();
            Some(format!("{name}\n{said}\n"))
        })
        .collect();
    let count = failures.len();
    assert!(failures.is_empty(), "{count} of {}:\n\n{}", files.len(), failures.join("\n"));
}

fn one() -> usize {
    1
}

fn scenarios(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of scenarios") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            scenarios(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
}

fn check(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let (input, expected) = text.rsplit_once("\n---\n").ok_or("no document with the plan")?;
    let expected: Expectation =
        serde_saphyr::from_str(expected).map_err(|error| error.to_string())?;
    let expected = expected.plan;
    let output = kerf_plan(input, &expected);
    let said = String::from_utf8_lossy(&output.stderr);
    let plan: Plan = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("no plan ({error}):\n{said}"))?;
    let unschedulable = by_pods(&plan.unschedulable);
    let code = match (plan.unschedulable.is_empty(), plan.new_nodes.is_empty()) {
        (false, _) => 3,
        (true, false) => 2,
        (true, true) => 0,
    };
    same("exit code", output.status.code(), Some(code))?;
    new_nodes(&expected.new_nodes, &plan.new_nodes)?;
    let existing = plan.existing_nodes.iter();
    let existing: BTreeMap<_, _> =
        existing.map(|node| (node.name.clone(), counted(&node.pods))).collect();
    let wanted = expected.existing_nodes.iter();
    let wanted: BTreeMap<_, _> = wanted.map(|(name, pods)| (name.clone(), counts(pods))).collect();
    same("existing nodes", existing, wanted)?;
    let wanted = expected.unschedulable.keys().flat_map(|pods| counts(pods)).collect();
    let found: BTreeMap<_, _> =
        unschedulable.iter().map(|(pod, all)| (pod.clone(), all.len())).collect();
    same("unschedulable", found, wanted)?;
    for (pods, reason) in &expected.unschedulable {
        for pod in counts(pods).keys() {
            let reasons = &unschedulable[pod];
            if let Some(other) = reasons.iter().find(|told| !told.contains(reason.as_str())) {
                return Err(format!("{pod}: expected {reason:?} in\n{other}"));
            }
        }
    }
    match expected.notes.iter().find(|note| !said.contains(note.as_str())) {
        Some(note) => Err(format!("expected {note:?} in\n{said}")),
        None => Ok(()),
    }
}

/// Runs the command with the documents as its standard input.
fn kerf_plan(input: &str, expected: &ExpectedPlan) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.args(["plan", "-f", "-", "-o", "json", "--detailed-exitcode"]);
    let mut flags = expected.flags.clone();
    flags.entry("catalogue".to_owned()).or_insert_with(|| CATALOGUE_DEFAULT.to_owned());
    for (name, value) in flags {
        let file = format!("{FOLDER}/catalogues/{value}.json");
        let value = if Path::new(&file).exists() { file } else { value };
        command.arg(format!("--{name}={value}"));
    }
    let settings = expected.scheduler_config.as_ref().map(|settings| {
        let file = std::env::temp_dir().join(format!("kerf-scenario-{}", std::process::id()));
        std::fs::write(&file, settings.to_string()).expect("a file can be written");
        command.arg(format!("--scheduler-config={}", file.display()));
        file
    });
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kerf starts");
    let mut stdin = child.stdin.take().expect("it was piped");
    // A command that refuses its arguments closes its input unread.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("kerf ends");
    if let Some(file) = settings {
        std::fs::remove_file(file).expect("it was written above");
    }
    output
}

fn new_nodes(expected: &[ExpectedNode], found: &[NewNode]) -> Result<(), String> {
    let mut wanted: Vec<String> =
        expected.iter().flat_map(|node| vec![expected_line(node); node.count]).collect();
    wanted.sort();
    let given = |pick: fn(&ExpectedNode) -> bool| expected.first().is_some_and(pick);
    let mut lines: Vec<String> = found
        .iter()
        .map(|node| {
            let price = node.price_per_hour;
            line(
                given(|it| it.pool.is_some()).then_some(node.node_pool.as_str()),
                given(|it| it.instance_type.is_some()).then_some(node.instance_type.as_str()),
                given(|it| it.zone.is_some()).then_some(node.zone.as_str()),
                given(|it| it.capacity.is_some()).then_some(node.capacity_type.as_str()),
                given(|it| it.price.is_some()).then_some(price),
                given(|it| it.options.is_some()).then_some(node.instance_type_options),
                &counted(&node.pods),
            )
        })
        .collect();
    lines.sort();
    same("new nodes", lines, wanted)
}

fn expected_line(node: &ExpectedNode) -> String {
    line(
        node.pool.as_deref(),
        node.instance_type.as_deref(),
        node.zone.as_deref(),
        node.capacity.as_deref(),
        node.price,
        node.options,
        &counts(&node.pods),
    )
}

fn line(
    pool: Option<&str>,
    instance_type: Option<&str>,
    zone: Option<&str>,
    capacity: Option<&str>,
    price: Option<f64>,
    options: Option<usize>,
    pods: &BTreeMap<String, usize>,
) -> String {
    let words = [pool, instance_type, zone, capacity].into_iter().flatten();
    let words: Vec<&str> = words.collect();
    let price = price.map(|price| format!(" {price} $/h")).unwrap_or_default();
    let options = options.map(|count| format!(" {count} options")).unwrap_or_default();
    format!("{}{price}{options}: {pods:?}", words.join(" "))
}

fn by_pods(unschedulable: &[Unschedulable]) -> BTreeMap<String, Vec<String>> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Unschedulable { pod, reason } in unschedulable {
        reasons.entry(group(pod)).or_default().push(reason.clone());
    }
    reasons
}

fn counted(pods: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for pod in pods {
        *counts.entry(group(pod)).or_default() += 1;
    }
    counts
}

/// `default/web-3` is one of `web`; other namespaces stay.
fn group(pod: &str) -> String {
    let name = pod.strip_prefix("default/").unwrap_or(pod);
    match name.rsplit_once('-') {
        Some((workload, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            workload.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// Reads `web x2, db`.
fn counts(text: &str) -> BTreeMap<String, usize> {
    let entry = |part: &str| match part.trim().split_once(" x") {
        Some((name, count)) => (name.to_owned(), count.parse().expect("a number after x")),
        None => (part.trim().to_owned(), 1),
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(entry).collect()
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}\n  expected {expected:#?}\n  found    {found:#?}"))
}
