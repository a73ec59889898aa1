//! Large problems and the first minute: time and memory beside what is aimed at.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::command::{output, root};

use super::{executable, page, watch};

const PART: &str = "scale";
const HEADER: &str = "\
| What | Time | Aim | Peak memory | Aim |
|---|---|---|---|---|
";
/// Runs of `kerf plan`, of which the median counts.
const PLAN_RUNS: usize = 20;
const PLAN_FILE: &str = "examples/inflate.yaml";

/// A large problem of the hot paths.
struct Solve {
    name: &'static str,
    about: &'static str,
    /// The fastest of these counts.
    rounds: &'static str,
    aim: Option<Duration>,
    aim_bytes: Option<u64>,
}

/// The aims are those the scheduler was built for.
const SOLVES: [Solve; 7] = [
    Solve {
        name: "mixed-100000",
        about: "100,000 mixed pods on 400 types",
        rounds: "3",
        aim: Some(Duration::from_secs(10)),
        aim_bytes: Some(1_000_000_000),
    },
    Solve {
        name: "replicas-10000",
        about: "10,000 replicas of one deployment on 400 types",
        rounds: "20",
        aim: Some(Duration::from_millis(50)),
        aim_bytes: None,
    },
    Solve {
        name: "min-values-1000",
        about: "1,000 mixed pods from a pool that keeps 15 instance types open",
        rounds: "5",
        aim: None,
        aim_bytes: None,
    },
    Solve {
        name: "reading-50000",
        about: "reading 5,000 nodes with 50,000 pods, once for all questions",
        rounds: "5",
        aim: None,
        aim_bytes: None,
    },
    Solve {
        name: "overlay-50000",
        about: "asking about that cluster without an empty node",
        rounds: "200",
        aim: Some(Duration::from_millis(1)),
        aim_bytes: None,
    },
    Solve {
        name: "without-50000",
        about: "asking about it without a node of ten pods, and placing them",
        rounds: "200",
        aim: None,
        aim_bytes: None,
    },
    Solve {
        name: "packed-50000",
        about: "the same where every node is full and the pods need a new one",
        rounds: "50",
        aim: Some(Duration::from_millis(1)),
        aim_bytes: None,
    },
];
const PLAN_AIM: Duration = Duration::from_millis(50);
/// A load above this makes times longer than they are; one is this program's own.
const QUIET_LOAD_MAX: f64 = 1.0;

/// Measures, prints the table and writes it into the page.
pub(crate) fn run() -> Result<()> {
    // Asked before building, which is work of our own.
    let load = load().filter(|load| *load > QUIET_LOAD_MAX);
    let hot_paths = executable::hot_paths()?;
    let kerf = executable::kerf()?;
    let mut table = HEADER.to_owned();
    for solve in &SOLVES {
        let row = solve_row(&hot_paths, solve)?;
        eprint!("{row}");
        table.push_str(&row);
    }
    table.push_str(&plan_row(&kerf)?);
    if let Some(load) = load {
        let _ =
            writeln!(table, "\nThe machine had other work too (load {load}): times are too long.");
    }
    println!("\n{table}");
    page::write(PART, &table)
}

fn solve_row(program: &Path, solve: &Solve) -> Result<String> {
    let Solve { name, about, rounds, aim, aim_bytes } = solve;
    let micros = output(Command::new(program).args(["time", name, rounds]))?;
    let micros: u64 = micros.trim().parse().with_context(|| format!("{name}: {micros}"))?;
    let peak = watch::peak_bytes(Command::new(program).args(["once", name]))?;
    Ok(row(about, Duration::from_micros(micros), *aim, peak, *aim_bytes))
}

fn plan_row(kerf: &Path) -> Result<String> {
    let file = root()?.join(PLAN_FILE);
    let plan = || {
        let mut plan = Command::new(kerf);
        plan.args(["plan", "-f"]).arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
        plan
    };
    let mut times = Vec::new();
    let used_before = watch::children_used();
    for _ in 0..PLAN_RUNS {
        let start = Instant::now();
        let status = plan().stderr(Stdio::null()).status().context("could not start kerf")?;
        times.push(start.elapsed());
        if !status.success() {
            bail!("`kerf plan -f {PLAN_FILE}` failed ({status})");
        }
    }
    times.sort();
    let used = watch::children_used().zip(used_before).map(|(after, before)| after - before);
    let each = used.map(|used| used / u32::try_from(PLAN_RUNS).expect("a small number"));
    let each = each.map_or_else(|| "unknown".to_owned(), short);
    let peak = watch::peak_bytes(plan().stderr(Stdio::null()))?;
    let about = format!("`kerf plan -f {PLAN_FILE}` from start to exit (processor: {each})");
    Ok(row(&about, times[PLAN_RUNS / 2], Some(PLAN_AIM), peak, None))
}

fn row(
    about: &str,
    time: Duration,
    aim: Option<Duration>,
    peak: Option<u64>,
    aim_bytes: Option<u64>,
) -> String {
    let verdict = |met: bool| if met { "" } else { " (missed)" };
    let memory = peak.map_or_else(|| "–".to_owned(), megabytes);
    let aim_memory = aim_bytes.map_or_else(
        || "–".to_owned(),
        |aim| format!("< {}{}", megabytes(aim), verdict(peak.is_none_or(|peak| peak < aim))),
    );
    let aim_time = aim
        .map_or_else(|| "–".to_owned(), |aim| format!("< {}{}", short(aim), verdict(time < aim)));
    format!("| {about} | {} | {aim_time} | {memory} | {aim_memory} |\n", short(time))
}

/// How many programs wanted a processor in the last minute, where the system tells.
pub(super) fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// A time in the unit that suits it.
pub(super) fn short(time: Duration) -> String {
    match time.as_micros() {
        micros @ 0..1000 => format!("{micros} µs"),
        micros @ 1000..100_000 => format!("{:.1} ms", micros as f64 / 1e3),
        micros => format!("{:.2} s", micros as f64 / 1e6),
    }
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_aim_is_said_in_the_row() {
        let aim = Duration::from_millis(50);
        let met = row("x", Duration::from_millis(49), Some(aim), Some(1_000_000), Some(2_000_000));
        assert_eq!(met, "| x | 49.0 ms | < 50.0 ms | 1 MB | < 2 MB |\n");
        let late = row("x", aim, Some(aim), Some(3_000_000), Some(2_000_000));
        assert_eq!(late, "| x | 50.0 ms | < 50.0 ms (missed) | 3 MB | < 2 MB (missed) |\n");
        assert_eq!(row("x", aim, None, None, None).matches('–').count(), 3);
    }

    #[test]
    fn times_are_written_in_the_unit_that_suits_them() {
        let written = [20, 999, 1_000, 49_960, 4_500_000].map(Duration::from_micros).map(short);
        assert_eq!(written, ["20 µs", "999 µs", "1.0 ms", "50.0 ms", "4.50 s"]);
    }
}
