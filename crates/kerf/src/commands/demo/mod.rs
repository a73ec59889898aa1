//! `kerf demo`: a cluster that grows and shrinks before your eyes, without a cluster.
//!
//! ```text
//!  Simulation ─ view ─► screen ─► terminal, redrawn in place
//!       └────── trace ─► trace_lines ───► lines, where there is no terminal
//! ```

mod gauge;
mod screen;
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

use super::simulate;
use style::Style;
use summary::Peak;
use trace_lines::TraceLines;

/// What is shown unless something else is asked for.
const SCENARIO: &str = include_str!("../../../../../examples/scenarios/inflate.yaml");
/// How long the show takes unless a speed is asked for.
const SHOW: Duration = Duration::from_secs(45);
/// How often the picture is redrawn.
const FRAME: Duration = Duration::from_millis(100);
/// Where there is no terminal, the trace is printed in steps of this length.
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
}

impl Demo {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { speed, scenario, seed } = self;
        let scenario = match &scenario {
            Some(path) => simulate::read(path)?,
            None => Arc::new(Scenario::parse(SCENARIO).context("the built-in scenario is broken")?),
        };
        let simulation =
            Simulation::new(scenario.clone(), seed).context("cannot play the scenario")?;
        let mut show = Show {
            scenario,
            simulation,
            trace_lines: TraceLines::default(),
            peak: Peak::default(),
            style: Style::of_stdout(),
        };
        let shown = if io::stdout().is_terminal() { show.draw(speed) } else { show.print(speed) };
        match shown {
            // Whoever listened has heard enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
            shown => shown.map(|()| ExitCode::SUCCESS).context("cannot write to the terminal"),
        }
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
    /// A picture that is redrawn in place.
    fn draw(&mut self, speed: Option<u32>) -> io::Result<()> {
        let speed = speed.unwrap_or_else(|| default_speed(self.scenario.length));
        let mut out = io::stdout().lock();
        let began = Instant::now();
        let mut lines_drawn = 0;
        loop {
            let is_over = self.advance(millis(began.elapsed()).saturating_mul(u64::from(speed)));
            let view = self.simulation.view();
            let frame = screen::frame(&self.scenario, &view, &self.trace_lines, speed, self.style);
            let mut text = String::new();
            if lines_drawn > 0 {
                // Back to the first line of the last picture.
                text.push_str(&format!("\u{1b}[{lines_drawn}A\r"));
            }
            for line in &frame {
                text.push_str(line);
                text.push_str("\u{1b}[K\n");
            }
            lines_drawn = frame.len();
            out.write_all(text.as_bytes())?;
            out.flush()?;
            if is_over {
                break;
            }
            std::thread::sleep(FRAME);
        }
        out.write_all(self.summary().as_bytes())
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
        self.simulation.run_until(target);
        self.trace_lines.read(&self.simulation);
        self.peak.update(&self.simulation.view());
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
