//! Spot nodes on the AWS stand-in and notices about all of them at once: Kerf and Karpenter in turn.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{output, require, root, run as run_command};
use crate::test::GO_ADVICE;

use super::{executable, page};

const PART: &str = "aws nodes";
const NODES: &str = "200";
/// Karpenter's controller with its AWS provider.
const ORIGINAL: &str = "github.com/aws/karpenter-provider-aws/cmd/controller";

/// A figure: its words, where it stands in the report, its unit, and what it is divided by.
const ROWS: [(&str, &str, &str, f64); 7] = [
    ("The last node has joined", "/seconds/last node joined", " s", 1.0),
    ("A pod runs on each", "/seconds/all pods running", " s", 1.0),
    ("Calls to AWS for each node", "/calls_per_node", "", 1.0),
    ("The last node closed, after the last notice", "/announced/last node closed", " s", 1.0),
    ("The queue empty, after the last notice", "/announced/queue empty", " s", 1.0),
    ("Peak memory of the controller", "/peak_memory_bytes", " MB", 1e6),
    ("Processor time of the controller", "/processor_seconds", " s", 1.0),
];

/// Measures both, prints the table and writes it into the page. `kerf` alone measures only Kerf.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let is_alone = args.iter().any(|arg| arg == "kerf");
    let kerf = executable::kerf()?;
    let stage = ["bench", "--no-run", "--package", "kerf-testbed", "--bench", "aws_nodes"];
    let stage = executable::built(stage, "aws_nodes")?;
    let ours = measure(&stage, "kerf", &kerf)?;
    let theirs = match is_alone {
        true => None,
        false => Some(measure(&stage, "karpenter", &build_original()?)?),
    };
    let table = table(&ours, theirs.as_ref())?;
    println!("\n{table}");
    if is_alone { Ok(()) } else { page::write(PART, &table) }
}

fn build_original() -> Result<PathBuf> {
    require("go", GO_ADVICE)?;
    eprintln!("bench aws: building Karpenter with its AWS provider (minutes the first time)");
    let program = std::env::temp_dir().join("kerf-bench-karpenter-aws");
    let mut build = Command::new("go");
    build.arg("build").arg("-o").arg(&program).arg(ORIGINAL);
    run_command(build.current_dir(root()?.join("bench/aws")))?;
    Ok(program)
}

fn measure(stage: &Path, product: &str, program: &Path) -> Result<Value> {
    eprintln!("bench aws: {product}, {NODES} nodes");
    let report = output(Command::new(stage).arg(product).arg(program).arg(NODES))?;
    let line = report.lines().rfind(|line| line.starts_with('{')).context("no report came")?;
    serde_json::from_str(line).context("the report is not JSON")
}

fn table(ours: &Value, theirs: Option<&Value>) -> Result<String> {
    let mut text = format!("| {NODES} spot nodes | Kerf | Karpenter 1.14.1 | Kerf / Karpenter |\n");
    text.push_str("|---|---|---|---|\n");
    for (about, pointer, unit, divisor) in ROWS {
        let own = number(ours, pointer)? / divisor;
        let (other, ratio) = match theirs {
            Some(theirs) => {
                let other = number(theirs, pointer)? / divisor;
                (format!("{other:.2}{unit}"), format!("{:.2}", own / other))
            }
            None => Default::default(),
        };
        let _ = writeln!(text, "| {about} | {own:.2}{unit} | {other} | {ratio} |");
    }
    text.push_str("\nCalls to AWS until a pod ran on each node: ");
    let products = [("Kerf", Some(ours)), ("Karpenter", theirs)];
    let products = products.iter().filter_map(|(name, report)| Some((name, (*report)?)));
    let calls: Vec<String> = products.map(|(name, it)| format!("{name} {}", calls(it))).collect();
    let _ = writeln!(text, "{}.", calls.join("; "));
    Ok(text)
}

/// The calls by name, the most frequent first.
fn calls(report: &Value) -> String {
    let calls = report["calls"].as_object().into_iter().flatten();
    let mut calls: Vec<(&str, u64)> =
        calls.map(|(name, count)| (name.as_str(), count.as_u64().unwrap_or(0))).collect();
    calls.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let calls = calls.iter().map(|(name, count)| format!("{count} {name}"));
    calls.collect::<Vec<_>>().join(", ")
}

fn number(report: &Value, pointer: &str) -> Result<f64> {
    let value = report.pointer(pointer).and_then(Value::as_f64);
    value.with_context(|| format!("the report has no {pointer}: {report}"))
}
