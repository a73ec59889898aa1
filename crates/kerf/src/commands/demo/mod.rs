//! `kerf demo`: a cluster that grows, is interrupted and shrinks before your eyes, without a cluster.
//!
//! ```text
//!  Simulation ─ view ─► screen ─► stage: the terminal, drawn over and over
//!       └────── trace ─► trace_lines ───► lines, where there is no terminal
//! ```

mod gauge;
mod screen;
mod stage;
mod style;
mod summary;
mod trace_lines;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use kerf_engine::time::Span;
use kerf_sim::{Scenario, Simulation};

use super::{money, simulate};
use screen::Frame;
use stage::{Key, Stage};
use style::Style;
use summary::Peak;
use trace_lines::TraceLines;

/// What is shown unless something else is asked for.
const SCENARIO: &str = include_str!("../../../../../examples/scenarios/demo.yaml");
/// How long the show takes unless a speed is asked for.
const SHOW: Duration = Duration::from_secs(45);
/// The simulation is looked at in steps of this length, whatever the speed.
const STEP: Span = Span::from_seconds(1);

/// Arguments of `kerf demo`.
#[derive(Args)]
pub(crate) struct Demo {
    /// How many times as fast as life; by default so that the show takes 45 seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    speed: Option<u32>,
    /// Another scenario than the built-in one; examples are in examples/scenarios
    #[arg(long, value_name = "FILE")]
    scenario: Option<String>,
    /// What decides everything the scenario leaves to chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Begin paused, this many seconds into the scenario
    #[arg(long, value_name = "SECONDS")]
    pause_at: Option<u64>,
    /// Print lines, also on a terminal
    #[arg(long)]
    plain: bool,
}

impl Demo {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { speed, scenario, seed, pause_at, plain } = self;
        let scenario = match &scenario {
            Some(path) => simulate::read(path)?,
            None => Arc::new(Scenario::parse(SCENARIO).context("the built-in scenario is broken")?),
        };
        let simulation =
            Simulation::new(scenario.clone(), seed).context("cannot play the scenario")?;
        let is_drawn = io::stdout().is_terminal() && !plain;
        let mut show = Show {
            scenario,
            simulation,
            trace_lines: TraceLines::default(),
            peak: Peak::default(),
            style: if plain { Style::Plain } else { Style::of_stdout() },
        };
        let shown = if is_drawn { show.draw(speed, pause_at) } else { show.print(speed) };
        shown.context("cannot write to the terminal")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// A simulation being shown.
struct Show {
    scenario: Arc<Scenario>,
    simulation: Simulation,
    trace_lines: TraceLines,
    peak: Peak,
    style: Style,
}

impl Show {
    /// A picture that is drawn over and over, until the end or until somebody has seen enough.
    fn draw(&mut self, speed: Option<u32>, pause_at: Option<u64>) -> io::Result<()> {
        let speed = speed.unwrap_or_else(|| default_speed(self.scenario.length));
        let mut played = pause_at.unwrap_or(0).saturating_mul(1_000);
        let mut is_paused = pause_at.is_some();
        let stage = Stage::enter()?;
        let mut last = Instant::now();
        loop {
            let is_over = self.advance(played);
            let view = self.simulation.view();
            let frame = Frame {
                scenario: &self.scenario,
                view: &view,
                trace_lines: &self.trace_lines,
                speed,
                is_paused,
                style: self.style,
                size: stage::size(),
            };
            stage.draw(&frame.lines())?;
            if is_over && !is_paused {
                break;
            }
            match stage.key()? {
                Some(Key::Quit) => break,
                Some(Key::Pause) => is_paused = !is_paused,
                None => {}
            }
            if !is_paused {
                played += millis(last.elapsed()).saturating_mul(u64::from(speed));
            }
            last = Instant::now();
        }
        drop(stage);
        io::stdout().lock().write_all(self.summary().as_bytes())
    }

    /// Line by line, as fast as can be unless a speed is asked for.
    fn print(&mut self, speed: Option<u32>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "kerf demo: {}. {}", self.scenario.name, self.scenario.about)?;
        let began = Instant::now();
        let mut played = 0;
        loop {
            played += STEP.millis();
            let is_over = self.advance(played);
            for line in self.trace_lines.take_settled(self.simulation.elapsed(), is_over) {
                writeln!(out, "{}  {}", simulate::clock(line.at), line.text())?;
            }
            if is_over {
                break;
            }
            if let Some(speed) = speed {
                let due = Duration::from_millis(played / u64::from(speed));
                std::thread::sleep(due.saturating_sub(began.elapsed()));
            }
        }
        out.write_all(self.summary().as_bytes())
    }

    /// Plays on. Returns whether it is over.
    fn advance(&mut self, played_millis: u64) -> bool {
        let began = self.simulation.now() - self.simulation.elapsed();
        let target = (began + Span::from_millis(played_millis)).min(self.simulation.ends_at());
        while self.simulation.now() < target {
            let next = (self.simulation.now() + STEP).min(target);
            self.simulation.run_until(next);
            self.trace_lines.read(&self.simulation);
            self.peak.update(&self.simulation);
        }
        target == self.simulation.ends_at()
    }

    fn summary(&self) -> String {
        summary::text(&self.simulation, &self.peak, &self.trace_lines, self.style)
    }
}

fn default_speed(length: Span) -> u32 {
    let speed = length.millis().div_ceil(millis(SHOW).max(1));
    u32::try_from(speed).unwrap_or(u32::MAX).max(1)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
