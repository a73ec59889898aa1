//! Kerf and Karpenter on the AWS stand-in, in turn: nodes, notices, launches, and what a quiet cluster
//! costs.

mod measurement;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{output, require, root, run as run_command};
use crate::test::GO_ADVICE;

use super::{executable, page};
use measurement::{MEASUREMENTS, Measurement};

/// Karpenter's controller with its AWS provider.
const ORIGINAL: &str = "github.com/aws/karpenter-provider-aws/cmd/controller";

const USAGE: &str =
    "bench aws [nodes|notices|launches|idle] [kerf] [--count N] [--minutes N] [--program FILE]";

/// What was asked for.
struct Asked {
    measurement: &'static Measurement,
    /// Whether only Kerf is measured; then the page stays as it is.
    is_alone: bool,
    count: String,
    minutes: String,
    /// The program to measure, where it is not built here.
    program: Option<PathBuf>,
}

/// Measures both, prints the table and writes it into the page. `kerf` alone measures only Kerf.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let asked = read(args)?;
    let measurement = asked.measurement;
    let kerf = match &asked.program {
        Some(program) => program.clone(),
        None => executable::kerf()?,
    };
    let stage = ["bench", "--no-run", "--package", "kerf-testbed", "--bench", "aws"];
    let stage = executable::built(stage, "aws")?;
    let ours = measure(&stage, &asked, "kerf", &kerf)?;
    let theirs = match asked.is_alone || !measurement.has_peer {
        true => None,
        false => Some(measure(&stage, &asked, "karpenter", &build_original()?)?),
    };
    let table = table(&asked, &ours, theirs.as_ref())?;
    println!("\n{table}");
    let is_whole = asked.count == measurement.count && asked.program.is_none();
    match !asked.is_alone && is_whole {
        true => page::write(measurement.part, &table),
        false => Ok(()),
    }
}

fn read(args: &[String]) -> Result<Asked> {
    let mut asked = Asked {
        measurement: &MEASUREMENTS[0],
        is_alone: false,
        count: String::new(),
        minutes: "10".to_owned(),
        program: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().cloned().with_context(|| format!("usage: {USAGE}"));
        match arg.as_str() {
            "kerf" => asked.is_alone = true,
            "--count" => asked.count = value()?,
            "--minutes" => asked.minutes = value()?,
            "--program" => asked.program = Some(value()?.into()),
            name => match MEASUREMENTS.iter().find(|it| it.name == name) {
                Some(found) => asked.measurement = found,
                None => bail!("usage: {USAGE}"),
            },
        }
    }
    if asked.count.is_empty() {
        asked.count = asked.measurement.count.to_owned();
    }
    Ok(asked)
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

fn measure(stage: &Path, asked: &Asked, product: &str, program: &Path) -> Result<Value> {
    let Measurement { name, is_timed, .. } = asked.measurement;
    eprintln!("bench aws {name}: {product}, {}", asked.count);
    let mut command = Command::new(stage);
    command.arg(name).arg(product).arg(program).arg(&asked.count);
    if *is_timed {
        command.arg(&asked.minutes);
    }
    let report = output(&mut command)?;
    let line = report.lines().rfind(|line| line.starts_with('{')).context("no report came")?;
    serde_json::from_str(line).context("the report is not JSON")
}

fn table(asked: &Asked, ours: &Value, theirs: Option<&Value>) -> Result<String> {
    let Measurement { title, rows, listed, .. } = asked.measurement;
    let mut text =
        format!("| {} {title} | Kerf | Karpenter 1.14.1 | Kerf / Karpenter |\n", asked.count);
    text.push_str("|---|---|---|---|\n");
    for (about, pointer, unit, divisor) in *rows {
        let own = number(ours, pointer)? / divisor;
        let (other, ratio) = match theirs {
            Some(theirs) => {
                let other = number(theirs, pointer)? / divisor;
                // Nothing is no share of anything.
                let ratio =
                    if other == 0.0 { String::new() } else { format!("{:.2}", own / other) };
                (format!("{other:.2}{unit}"), ratio)
            }
            None => Default::default(),
        };
        let _ = writeln!(text, "| {about} | {own:.2}{unit} | {other} | {ratio} |");
    }
    for (about, pointer) in *listed {
        let products = [("Kerf", Some(ours)), ("Karpenter", theirs)];
        let products = products.iter().filter_map(|(name, report)| Some((name, (*report)?)));
        let lists: Vec<String> =
            products.map(|(name, it)| format!("{name} {}", list(it, pointer))).collect();
        let _ = writeln!(text, "\n{about}: {}.", lists.join("; "));
    }
    Ok(text)
}

/// The counts of a list by name, the largest first.
fn list(report: &Value, pointer: &str) -> String {
    let counts = report.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
    let mut counts: Vec<(&str, f64)> =
        counts.map(|(name, count)| (name.as_str(), count.as_f64().unwrap_or(0.0))).collect();
    counts.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
    let shown = |(name, count): &(&str, f64)| match count.fract() == 0.0 {
        true => format!("{count:.0} {name}"),
        false => format!("{count:.2} {name}"),
    };
    match counts.is_empty() {
        true => "none".to_owned(),
        false => counts.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}

fn number(report: &Value, pointer: &str) -> Result<f64> {
    let value = report.pointer(pointer).and_then(Value::as_f64);
    value.with_context(|| format!("the report has no {pointer}: {report}"))
}
