//! Pods on a real control plane until all run: Kerf and Karpenter in turns, on the same stage in the
//! same run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{output, require, root, run as run_command};
use crate::test::GO_ADVICE;

use super::{disruption, executable, page};

/// A workload: its name for the stage, its part of the page, and whether aims are stated for it.
struct Workload {
    name: &'static str,
    part: &'static str,
    has_aims: bool,
}

const WORKLOADS: [Workload; 2] = [
    Workload { name: "mixed", part: "e2e mixed", has_aims: true },
    Workload { name: "spread", part: "e2e spread", has_aims: false },
];
/// The package of Karpenter's controller with its kwok provider.
const ORIGINAL: &str = "sigs.k8s.io/karpenter/kwok";
/// How often each is measured. The one in the middle stands on the page: the machine has other
/// work now and then.
const ROUNDS: usize = 3;

/// A figure: where it stands in the report, its words, and what is aimed at.
struct Row {
    about: &'static str,
    pointer: &'static str,
    unit: &'static str,
    divisor: f64,
    aim: &'static str,
}

const ROWS: [Row; 6] = [
    Row {
        about: "First claim",
        pointer: "/seconds/first claim",
        unit: " s",
        divisor: 1.0,
        aim: "",
    },
    Row {
        about: "All pods running",
        pointer: "/seconds/all pods running",
        unit: " s",
        divisor: 1.0,
        aim: "10 s",
    },
    Row { about: "Nodes", pointer: "/nodes", unit: "", divisor: 1.0, aim: "" },
    Row {
        about: "Price of the nodes",
        pointer: "/dollars_per_hour",
        unit: " $/h",
        divisor: 1.0,
        aim: "76 $/h",
    },
    Row {
        about: "Peak memory of the controller",
        pointer: "/peak_memory_bytes",
        unit: " MB",
        divisor: 1e6,
        aim: "40 MB",
    },
    Row {
        about: "Processor time of the controller",
        pointer: "/processor_seconds",
        unit: " s",
        divisor: 1.0,
        aim: "",
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

/// What one product reported, round by round.
struct Reports(Vec<Value>);

/// Measures both with every workload, or with the one that is named, prints the tables and writes
/// them into the page.
///
/// `disruption [CASE…] [--share N] [kerf]` is about clusters in which something changes.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if let Some((first, rest)) = args.split_first()
        && first == "disruption"
    {
        return run_disruption(rest);
    }
    let wanted = args.first();
    let workloads: Vec<&Workload> = WORKLOADS
        .iter()
        .filter(|workload| wanted.is_none_or(|wanted| wanted == workload.name))
        .collect();
    if workloads.is_empty() {
        bail!(
            "no such workload; there are: {}",
            WORKLOADS.map(|workload| workload.name).join(", ")
        );
    }
    require("go", GO_ADVICE)?;
    let kerf = executable::kerf()?;
    let karpenter = build_original()?;
    let stage = stage()?;
    for workload in workloads {
        let (mut ours, mut theirs) = (Reports(Vec::new()), Reports(Vec::new()));
        for round in 1..=ROUNDS {
            eprintln!("bench {}: round {round} of {ROUNDS}", workload.part);
            ours.0.push(measure(&stage, "kerf", &kerf, workload)?);
            theirs.0.push(measure(&stage, "karpenter", &karpenter, workload)?);
        }
        let tables = tables(&ours, &theirs, workload)?;
        println!("\n{tables}");
        page::write(workload.part, &tables)?;
    }
    Ok(())
}

fn run_disruption(args: &[String]) -> Result<()> {
    let kerf = executable::kerf()?;
    let karpenter = match disruption::is_kerf_alone(args) {
        true => None,
        false => {
            require("go", GO_ADVICE)?;
            Some(build_original()?)
        }
    };
    let program = stage()?;
    let stage =
        disruption::Stage { program: &program, kerf: &kerf, karpenter: karpenter.as_deref() };
    disruption::run(args, &stage)
}

/// What measures runs on the same cores, so it must be fast too.
fn stage() -> Result<PathBuf> {
    let package = ["bench", "--no-run", "--package", "kerf-kwok", "--bench", "e2e"];
    executable::built(package, "e2e")
}

fn build_original() -> Result<PathBuf> {
    eprintln!("bench e2e: building Karpenter (a minute the first time)");
    let program = std::env::temp_dir().join("kerf-bench-karpenter-kwok");
    let mut build = Command::new("go");
    build.arg("build").arg("-o").arg(&program).arg(ORIGINAL);
    run_command(build.current_dir(root()?.join("bench/peer")))?;
    Ok(program)
}

fn measure(stage: &Path, product: &str, program: &Path, workload: &Workload) -> Result<Value> {
    let report = output(Command::new(stage).arg(product).arg(program).arg(workload.name))?;
    let line = report.lines().rfind(|line| line.starts_with('{')).context("no report came")?;
    let report: Value = serde_json::from_str(line).context("the report is not JSON")?;
    let running = report.pointer("/seconds/all pods running").and_then(Value::as_f64);
    eprintln!("bench e2e: {product}: all pods run after {:.2} s", running.unwrap_or_default());
    Ok(report)
}

fn tables(ours: &Reports, theirs: &Reports, workload: &Workload) -> Result<String> {
    let mut text = String::from("| What | Kerf | Karpenter 1.14.1 | Kerf / Karpenter | Aim |\n");
    text.push_str("|---|---|---|---|---|\n");
    for Row { about, pointer, unit, divisor, aim } in &ROWS {
        let (own, other) = (ours.middle(pointer)? / divisor, theirs.middle(pointer)? / divisor);
        let digits = if unit.is_empty() { 0 } else { 2 };
        let has_aim = workload.has_aims && !aim.is_empty();
        let aim = if has_aim { format!("at most {aim}") } else { String::new() };
        let ratio = own / other;
        let _ = writeln!(
            text,
            "| {about} | {own:.digits$}{unit} | {other:.digits$}{unit} | {ratio:.2} | {aim} |"
        );
    }
    text.push_str("\nWhere the time goes, in seconds after the Deployments were applied:\n\n");
    text.push_str("| Moment | Kerf | Karpenter 1.14.1 |\n|---|---|---|\n");
    for (key, about) in MOMENTS {
        let pointer = format!("/seconds/{key}");
        let (own, other) = (ours.middle(&pointer)?, theirs.middle(&pointer)?);
        let _ = writeln!(text, "| {about} | {own:.2} | {other:.2} |");
    }
    let solved = ours.middle("/solve_seconds")?;
    let all = ours.every("/seconds/all pods running")?;
    let others = theirs.every("/seconds/all pods running")?;
    let in_words = |all: &[f64]| {
        all.iter().map(|seconds| format!("{seconds:.1}")).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(
        text,
        "\nOf this, Kerf solved for {solved:.2} s. Until all ran, each round in turn: Kerf {} s; \
         Karpenter {} s.",
        in_words(&all),
        in_words(&others)
    );
    Ok(text)
}

impl Reports {
    fn every(&self, pointer: &str) -> Result<Vec<f64>> {
        let number = |report: &Value| {
            let value = report.pointer(pointer).and_then(Value::as_f64);
            value.with_context(|| format!("the report has no {pointer}: {report}"))
        };
        self.0.iter().map(number).collect()
    }

    fn middle(&self, pointer: &str) -> Result<f64> {
        let mut all = self.every(pointer)?;
        all.sort_by(f64::total_cmp);
        match all.get(all.len() / 2) {
            Some(middle) => Ok(*middle),
            None => bail!("nothing was measured"),
        }
    }
}
