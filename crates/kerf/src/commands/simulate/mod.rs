//! `kerf simulate`: a scenario played without the show.

mod json;
mod progress;
mod text;

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

use super::exit::{Exit, UsageError};
use super::terminal;
use progress::Progress;
pub(crate) use text::clock;

/// Hours in a day.
const HOURS_PER_DAY: u64 = 24;
/// Days that can be played in one go: a year. Everything that happens is held in memory.
const DAYS_MAX: u64 = 366;
/// How many things happen between two looks at how far it is.
const STEPS_PER_LOOK: u32 = 1_000;

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
    /// Show also what was decided, published and failed, and how long it took
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For scripts
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
        let Self { scenario, seed, seeds, days, journal, output, verbose } = self;
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
        let progress = Progress::new(length, seeds.get());
        let runs = progress.shown(|| match journal {
            Some(path) => Ok(vec![play_journaled(&scenario, seed, length, &path, &progress)?]),
            None => play_all(&scenario, seed..last, length, &progress),
        })?;
        terminal::print(&match output {
            Format::Table => text::text(&scenario, &runs, verbose),
            Format::Json => json::json(&scenario, &runs)?,
        })?;
        let held = runs.iter().all(|run| run.report.violations.is_empty());
        Ok(Exit::success_if(held).into())
    }
}

/// Reads a scenario file. All its mistakes are told, a line each.
pub(crate) fn read(path: &str) -> Result<Arc<Scenario>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let scenario = Scenario::parse(&text).map_err(|error| {
        let lines = error.to_string();
        let lines: Vec<String> = lines.lines().map(|line| format!("{path}: {line}")).collect();
        anyhow!(lines.join("\n"))
    })?;
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
    progress: &Progress,
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
            let simulation = Simulation::lasting(scenario.clone(), seed, length);
            let mut simulation = simulation.context("cannot play the scenario")?;
            runs.push(play(seed, &mut simulation, progress));
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

fn play_journaled(
    scenario: &Arc<Scenario>,
    seed: u64,
    length: Span,
    path: &Path,
    progress: &Progress,
) -> Result<Run> {
    let simulation = Simulation::journaled(scenario.clone(), seed, length);
    let mut simulation = simulation.context("cannot play the scenario")?;
    let run = play(seed, &mut simulation, progress);
    std::fs::write(path, simulation.journals().concat())
        .with_context(|| format!("--journal {}", path.display()))?;
    Ok(run)
}

fn play(seed: u64, simulation: &mut Simulation, progress: &Progress) -> Run {
    let clock = Instant::now();
    let began_at = simulation.now();
    let mut told = Span::default();
    loop {
        let goes_on = (0..STEPS_PER_LOOK).all(|_| simulation.step());
        let elapsed = simulation.elapsed();
        progress.add(Span::from_millis(elapsed.millis().saturating_sub(told.millis())));
        told = elapsed;
        if !goes_on {
            break;
        }
    }
    Run { seed, report: Report::of(simulation), began_at, took: clock.elapsed() }
}
