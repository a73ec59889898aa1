//! A thousand pods on a real control plane until all run, beside the original's figures.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{cargo, output};

use super::{executable, page};

const PART: &str = "e2e";

/// A figure: where it stands in the report, its words, what the original took, what is aimed at.
struct Row {
    about: &'static str,
    pointer: &'static str,
    unit: &'static str,
    divisor: f64,
    original: &'static str,
    aim: &'static str,
}

const ROWS: [Row; 5] = [
    Row {
        about: "First claim",
        pointer: "/seconds/first claim",
        unit: " s",
        divisor: 1.0,
        original: "6.8 s",
        aim: "",
    },
    Row {
        about: "All pods running",
        pointer: "/seconds/all pods running",
        unit: " s",
        divisor: 1.0,
        original: "16.3 s",
        aim: "10 s",
    },
    Row { about: "Nodes", pointer: "/nodes", unit: "", divisor: 1.0, original: "11", aim: "" },
    Row {
        about: "Price of the nodes",
        pointer: "/dollars_per_hour",
        unit: " $/h",
        divisor: 1.0,
        original: "81.64 $/h",
        aim: "76 $/h",
    },
    Row {
        about: "Peak memory of the controller",
        pointer: "/peak_memory_bytes",
        unit: " MB",
        divisor: 1e6,
        original: "144 MB",
        aim: "40 MB",
    },
];

/// Where the time goes: moments in their order.
const MOMENTS: [(&str, &str); 6] = [
    ("last pod created", "the last of the pods exists"),
    ("first claim", "the first claim exists"),
    ("first pod bound", "the first pod is bound"),
    ("last node initialized", "the last node is ready for pods"),
    ("last pod bound", "the last pod is bound"),
    ("all pods running", "all pods run"),
];

/// Measures, prints the tables and writes them into the page.
pub(crate) fn run() -> Result<()> {
    let kerf = executable::kerf()?;
    // What measures runs on the same cores, so it must be fast too.
    let package = ["bench", "--profile", "release", "--package", "kerf-kwok", "--bench", "e2e"];
    let report = output(cargo(package).arg("--").arg(&kerf))?;
    let line = report.lines().rfind(|line| line.starts_with('{')).context("no report came")?;
    let report: Value = serde_json::from_str(line).context("the report is not JSON")?;
    let tables = tables(&report)?;
    println!("\n{tables}");
    page::write(PART, &tables)
}

fn tables(report: &Value) -> Result<String> {
    let number = |pointer: &str| {
        let value = report.pointer(pointer).and_then(Value::as_f64);
        value.with_context(|| format!("the report has no {pointer}: {report}"))
    };
    let mut text = String::from("| What | Kerf | Aim | Karpenter 1.14.1 |\n|---|---|---|---|\n");
    for row in &ROWS {
        let Row { about, pointer, unit, divisor, original, aim } = row;
        let value = number(pointer)? / divisor;
        let value = if unit.is_empty() { format!("{value}") } else { format!("{value:.2}{unit}") };
        let aim = if aim.is_empty() { String::new() } else { format!("at most {aim}") };
        let _ = writeln!(text, "| {about} | {value} | {aim} | {original} |");
    }
    text.push_str("\nWhere the time goes, in seconds after the Deployments were applied:\n\n");
    text.push_str("| Moment | Seconds |\n|---|---|\n");
    for (key, about) in MOMENTS {
        let _ = writeln!(text, "| {about} | {:.2} |", number(&format!("/seconds/{key}"))?);
    }
    let _ = writeln!(text, "\nOf this, Kerf thought for {:.2} s.", number("/solve_seconds")?);
    Ok(text)
}
