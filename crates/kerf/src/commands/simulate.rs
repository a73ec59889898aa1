//! `kerf simulate`: a scenario played without the show.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use kerf_engine::time::{Span, Time};
use kerf_sim::{Report, Scenario, Simulation};
use serde::Serialize;

use super::exit::{Exit, UsageError};

/// Hours in a day.
const HOURS_PER_DAY: u64 = 24;
/// Days that can be played in one go: a year. Everything that happens is held in memory.
const DAYS_MAX: u64 = 366;
/// Broken rules shown of each seed.
const VIOLATIONS_SHOWN: usize = 5;

/// Arguments of `kerf simulate`.
#[derive(Args)]
pub(crate) struct Simulate {
    /// A scenario file; examples are in examples/scenarios
    scenario: String,
    /// What decides everything the scenario leaves to chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds to play, from the given one on
    #[arg(long, value_name = "N", default_value = "1")]
    seeds: NonZeroU64,
    /// How many days to play; the timeline is repeated. By default as long as the scenario says
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u64).range(1..=DAYS_MAX))]
    days: Option<u64>,
    /// Write the journals of all engines there are, one after the other, to a file for kerf replay;
    /// one seed only
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    journal: Option<PathBuf>,
    /// How to print what came of it
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// One seed played.
struct Run {
    seed: u64,
    report: Report,
    began_at: Time,
    took: Duration,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { scenario, seed, seeds, days, journal, output } = self;
        let scenario = read(&scenario)?;
        if let Some(warning) = past_end(&scenario) {
            eprintln!("kerf: {warning}");
        }
        let length = match days {
            Some(days) => Span::from_seconds(days * HOURS_PER_DAY * 3_600),
            None => scenario.length,
        };
        let last = seed.checked_add(seeds.get());
        let last = last.ok_or_else(|| UsageError::new("--seed plus --seeds is too large"))?;
        let runs = match journal {
            Some(path) => vec![play_journaled(&scenario, seed, length, &path)?],
            None => play_all(&scenario, seed..last, length)?,
        };
        let text = match output {
            Format::Table => table(&scenario, &runs),
            Format::Json => json(&scenario, &runs)?,
        };
        print!("{text}");
        let held = runs.iter().all(|run| run.report.violations.is_empty());
        Ok(Exit::success_if(held).into())
    }
}

/// Reads a scenario file.
pub(crate) fn read(path: &str) -> Result<Arc<Scenario>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let scenario = Scenario::parse(&text).map_err(|error| anyhow!("{path}: {error}"))?;
    Ok(Arc::new(scenario))
}

/// What to say where a timeline goes on after the end, which is most often a mistake.
fn past_end(scenario: &Scenario) -> Option<String> {
    let times = scenario.times_past_end();
    let (first, count) = (clock(*times.first()?), times.len());
    let ends = clock(scenario.length);
    Some(format!(
        "warning: the scenario ends at {ends}, and {count} of its steps and expectations are past \
         that, the first at {first}; raise ends to play them"
    ))
}

/// Plays every seed, on as many threads as there are processors; the order of the answers is that
/// of the seeds.
fn play_all(
    scenario: &Arc<Scenario>,
    seeds: std::ops::Range<u64>,
    length: Span,
) -> Result<Vec<Run>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(seeds.start);
    let play_some = || -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return Ok(runs);
            }
            runs.push(play(scenario, seed, length)?);
        }
    };
    let mut runs: Vec<Run> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(play_some)).collect();
        let done = workers.into_iter().map(|worker| match worker.join() {
            Ok(runs) => runs,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect::<Result<Vec<_>>>().map(|runs| runs.into_iter().flatten().collect())
    })?;
    runs.sort_by_key(|run| run.seed);
    Ok(runs)
}

fn play(scenario: &Arc<Scenario>, seed: u64, length: Span) -> Result<Run> {
    let simulation = Simulation::lasting(scenario.clone(), seed, length);
    Ok(run(seed, &mut simulation.context("cannot play the scenario")?))
}

fn play_journaled(scenario: &Arc<Scenario>, seed: u64, length: Span, path: &Path) -> Result<Run> {
    let simulation = Simulation::journaled(scenario.clone(), seed, length);
    let mut simulation = simulation.context("cannot play the scenario")?;
    let run = run(seed, &mut simulation);
    std::fs::write(path, simulation.journals().concat())
        .with_context(|| format!("--journal {}", path.display()))?;
    Ok(run)
}

fn run(seed: u64, simulation: &mut Simulation) -> Run {
    let clock = Instant::now();
    let began_at = simulation.now();
    simulation.run();
    Run { seed, report: Report::of(simulation), began_at, took: clock.elapsed() }
}

fn table(scenario: &Scenario, runs: &[Run]) -> String {
    let mut text = String::new();
    match runs {
        [run] => one(&mut text, scenario, run),
        _ => many(&mut text, scenario, runs),
    }
    text
}

fn one(text: &mut String, scenario: &Scenario, run: &Run) {
    let Run { seed, report, took, .. } = run;
    let seconds = took.as_secs_f32();
    let lasted = clock(report.lasted);
    let _ = writeln!(text, "{}, seed {seed}: {lasted} played in {seconds:.1} s", scenario.name);
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    let (launches, spent) = (report.launches, dollars(report.spent_micros));
    row("instances", format!("{launches} launched, {spent} $ spent"));
    row("nodes", format!("{} at the end", report.nodes));
    row("pods", format!("{} ready, {} without a node", report.running, report.pending));
    row("decisions", counts(&report.actions));
    row("events", counts(&report.kubernetes_events));
    row("failures", counts(&report.failures));
    row("faults", counts(&report.faults));
    row("rules", verdict(report.violations.len()));
    violations(text, run);
}

fn many(text: &mut String, scenario: &Scenario, runs: &[Run]) {
    let broken: Vec<&Run> = runs.iter().filter(|run| !run.report.violations.is_empty()).collect();
    for run in &broken {
        let _ = writeln!(text, "seed {}: {}", run.seed, verdict(run.report.violations.len()));
        violations(text, run);
    }
    let faults: u64 = runs.iter().flat_map(|run| run.report.faults.values()).sum();
    let failures: u64 = runs.iter().flat_map(|run| run.report.failures.values()).sum();
    let launches: u64 = runs.iter().map(|run| run.report.launches).sum();
    let (name, count, bad) = (&scenario.name, runs.len(), broken.len());
    let _ = writeln!(text, "{name}: {count} seeds, {bad} broke a rule");
    let _ =
        writeln!(text, "  {launches} instances launched, {faults} faults, {failures} calls failed");
}

fn violations(text: &mut String, run: &Run) {
    for violation in run.report.violations.iter().take(VIOLATIONS_SHOWN) {
        let at = clock(violation.at.since(run.began_at));
        let _ = writeln!(text, "    {at}  {}: {}", violation.rule, violation.what);
    }
    let more = run.report.violations.len().saturating_sub(VIOLATIONS_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "    and {more} more");
    }
}

fn verdict(violations: usize) -> String {
    match violations {
        0 => "every one held".to_owned(),
        1 => "broken once".to_owned(),
        count => format!("broken {count} times"),
    }
}

fn counts(counts: &BTreeMap<&'static str, u64>) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let each: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    each.join(", ")
}

/// `1:02:03`.
pub(crate) fn clock(span: Span) -> String {
    let seconds = span.seconds();
    format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// Micro-dollars as dollars, to the hundredth of a cent.
pub(crate) fn dollars(micros: u128) -> String {
    let rounded = (micros + 50) / 100;
    format!("{}.{:04}", rounded / 10_000, rounded % 10_000)
}

#[derive(Serialize)]
struct Output<'a> {
    scenario: &'a str,
    runs: Vec<RunOutput<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunOutput<'a> {
    seed: u64,
    lasted_seconds: u64,
    took_millis: u64,
    steps: u64,
    launches: u64,
    spent_dollars: String,
    nodes: usize,
    pods_ready: usize,
    pods_pending: usize,
    decisions: &'a BTreeMap<&'static str, u64>,
    events: &'a BTreeMap<&'static str, u64>,
    failures: &'a BTreeMap<&'static str, u64>,
    faults: &'a BTreeMap<&'static str, u64>,
    violations: Vec<ViolationOutput<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ViolationOutput<'a> {
    after_seconds: u64,
    rule: String,
    what: &'a str,
}

fn json(scenario: &Scenario, runs: &[Run]) -> Result<String> {
    let runs = runs.iter().map(|run| {
        let report = &run.report;
        let violations = report.violations.iter().map(|violation| ViolationOutput {
            after_seconds: violation.at.since(run.began_at).seconds(),
            rule: violation.rule.to_string(),
            what: &violation.what,
        });
        RunOutput {
            seed: run.seed,
            lasted_seconds: report.lasted.seconds(),
            took_millis: u64::try_from(run.took.as_millis()).unwrap_or(u64::MAX),
            steps: report.steps,
            launches: report.launches,
            spent_dollars: dollars(report.spent_micros),
            nodes: report.nodes,
            pods_ready: report.running,
            pods_pending: report.pending,
            decisions: &report.actions,
            events: &report.kubernetes_events,
            failures: &report.failures,
            faults: &report.faults,
            violations: violations.collect(),
        }
    });
    let output = Output { scenario: &scenario.name, runs: runs.collect() };
    let mut text = serde_json::to_string_pretty(&output).context("a report is plain data")?;
    text.push('\n');
    Ok(text)
}
