//! One target for some time: mutate, run, keep what reached new code.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use kerf_model::rng::SplitMix64;

use crate::batch;
use crate::corpus::{Corpus, INPUT_BYTES_MAX};
use crate::coverage::Coverage;
use crate::mutate::mutate;
use crate::targets::Target;

/// A target being fuzzed.
#[derive(Debug)]
pub(crate) struct Campaign {
    target: &'static Target,
    corpus: Corpus,
    found: PathBuf,
    folder: PathBuf,
    rng: SplitMix64,
    reached: Coverage,
    is_guided: bool,
    /// Whether inputs that reached new code are stored.
    keeps: bool,
    /// Where failures happened, so that each is reported once.
    places: BTreeSet<String>,
    report: Report,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    name: &'static str,
    pub(crate) executions: u64,
    batches: u64,
    covered: Option<u32>,
    corpus: usize,
    pub(crate) findings: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let covered = self.covered.map_or("unknown".to_owned(), |count| count.to_string());
        let Self { name, executions, batches, corpus, findings, .. } = self;
        write!(f, "{name:<18}{executions:>12}{batches:>9}{covered:>10}{corpus:>10}{findings:>10}")
    }
}

impl Campaign {
    pub(crate) fn new(
        target: &'static Target,
        corpus: &Path,
        seed: u64,
        keeps: bool,
    ) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("kerf-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self {
            target,
            found: corpus.with_file_name("found"),
            corpus: Corpus::of(corpus, target.name)?,
            folder,
            rng: SplitMix64::new(seed),
            reached: Coverage::default(),
            is_guided: true,
            keeps,
            places: BTreeSet::new(),
            report: Report { name: target.name, ..Report::default() },
        })
    }

    /// Fuzzes for so long; the corpus itself is run first, whatever that takes.
    pub(crate) fn run(mut self, time: Duration) -> Result<Report> {
        let started = Instant::now();
        for chunk in self.corpus.inputs.clone().chunks(self.target.batch) {
            let outcome = self.execute(chunk)?;
            match outcome {
                Some(coverage) => self.reached.add(&coverage),
                None => self.is_guided = false,
            }
        }
        while started.elapsed() < time {
            let inputs = self.next_batch();
            let coverage = self.execute(&inputs)?;
            if let Some(coverage) = coverage.filter(|it| it.exceeds(&self.reached)) {
                self.keep(inputs, &coverage)?;
            }
        }
        self.report.covered = self.is_guided.then(|| self.reached.count());
        self.report.corpus = self.corpus.inputs.len();
        // What is left there is of no use to anybody.
        let _ = std::fs::remove_dir_all(&self.folder);
        Ok(self.report)
    }

    fn next_batch(&mut self) -> Vec<Vec<u8>> {
        let Self { corpus, rng, target, .. } = self;
        (0..target.batch)
            .map(|_| {
                // Half of the time one that came last: it opened a door that nobody has gone
                // through yet.
                let count = corpus.inputs.len();
                let fresh = count.min(16);
                let place = match rng.below(2) {
                    0 => rng.below(count),
                    _ => count - 1 - rng.below(fresh),
                };
                mutate(&corpus.inputs[place], corpus, rng)
            })
            .collect()
    }

    /// Runs a batch and tells of what failed. Gives which code ran.
    fn execute(&mut self, inputs: &[Vec<u8>]) -> Result<Option<Coverage>> {
        let outcome = batch::run(self.target.name, inputs, &self.folder)?;
        self.report.batches += 1;
        self.report.executions += inputs.len() as u64;
        for (index, text) in &outcome.failures {
            self.tell(&inputs[*index], text)?;
        }
        Ok(outcome.coverage)
    }

    fn tell(&mut self, input: &[u8], text: &str) -> Result<()> {
        // Where it happened tells failures apart; what was read does not.
        let place = text.split(": ").next().unwrap_or(text).to_owned();
        if !self.places.insert(place) {
            return Ok(());
        }
        self.report.findings += 1;
        let found = Corpus::of(&self.found, self.target.name)?;
        let file = found.store(input, "")?;
        println!("{}: {text}\n  input: {}", self.target.name, file.display());
        Ok(())
    }

    /// Cuts a batch that reached new code down to the inputs that did, and keeps those.
    fn keep(&mut self, inputs: Vec<Vec<u8>>, coverage: &Coverage) -> Result<()> {
        if inputs.len() == 1 {
            self.reached.add(coverage);
            for input in inputs {
                if self.keeps && input.len() <= INPUT_BYTES_MAX {
                    self.corpus.store(&input, "")?;
                }
                self.corpus.take(input);
            }
            return Ok(());
        }
        let (first, second) = inputs.split_at(inputs.len() / 2);
        for half in [first, second] {
            let coverage = self.execute(half)?;
            if let Some(coverage) = coverage.filter(|it| it.exceeds(&self.reached)) {
                self.keep(half.to_vec(), &coverage)?;
            }
        }
        Ok(())
    }
}
