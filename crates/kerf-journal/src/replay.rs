//! Running an engine over a journal and comparing what it decides.

use kerf_engine::Engine;
use kerf_engine::time::Time;
use serde::Serialize;
use serde_json::Value;

use crate::decode::{Decoder, JournalError, JournalLine};
use crate::encode::action_value;
use crate::header::Header;

/// A replay under way.
#[derive(Debug, Default)]
pub struct Replay {
    decoder: Decoder,
    /// None before the first header, and after a gap until the next state.
    engine: Option<Engine>,
    until: Option<Time>,
    last_event: Option<String>,
    report: ReplayReport,
}

/// How a replay went.
#[derive(Clone, Debug, Default)]
pub struct ReplayReport {
    /// The version of Kerf that wrote the journal.
    pub kerf_version: String,
    /// Segments begun.
    pub segments: u64,
    /// States of the engine that it went on from.
    pub states: u64,
    /// Events handed to the engine.
    pub events: u64,
    /// Times the engine was asked to decide.
    pub decisions: u64,
    /// Actions that came out equal.
    pub actions: u64,
    /// Records that are missing in the journal, or came before anything could be replayed.
    pub skipped: u64,
    /// The time of the first record replayed.
    pub from: Option<Time>,
    /// The time of the last record replayed.
    pub to: Option<Time>,
    /// Whether the last line breaks off: the process ended while it was written.
    pub is_truncated: bool,
    /// Whether the replay stopped at the time it was given.
    pub is_stopped: bool,
    /// The first decision that came out otherwise.
    pub difference: Option<Box<Difference>>,
}

/// A decision that came out otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// When it was made.
    pub at: Time,
    /// The line of its file, from 1.
    pub line: u64,
    /// The event before it, as it was written.
    pub event: Option<String>,
    /// What the journal has at the first place that differs: an action, a solve that is
    /// withdrawn, or a notice's outcome; none where it has nothing more.
    pub expected: Option<Value>,
    /// What the engine decided there.
    pub actual: Option<Value>,
}

impl Replay {
    /// A replay that ends after this time, if one is given.
    #[must_use]
    pub fn new(until: Option<Time>) -> Self {
        Self { until, ..Self::default() }
    }

    /// A whole journal at once.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(text: &str) -> Result<ReplayReport, JournalError> {
        let mut replay = Self::new(None);
        for line in text.split_inclusive('\n') {
            replay.line(line)?;
        }
        Ok(replay.report)
    }

    /// How it went so far.
    #[must_use]
    pub fn report(&self) -> &ReplayReport {
        &self.report
    }

    /// Whether there is no use in reading on: something differs, or enough was seen.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.report.is_stopped || self.report.difference.is_some()
    }

    /// Goes on with the next file of the journal: lines count from 1 again.
    pub fn next_file(&mut self) {
        self.decoder.next_file();
    }

    /// Goes on by one line, which ends with its line break unless the journal breaks off there.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn line(&mut self, line: &str) -> Result<(), JournalError> {
        if self.is_over() {
            return Ok(());
        }
        if !line.ends_with('\n') {
            self.report.is_truncated = true;
            return Ok(());
        }
        match self.decoder.read(line)? {
            JournalLine::Header(header) => {
                let Header { kerf_version, segment, settings, .. } = *header;
                // Every segment but the first goes on with a state.
                self.engine = (segment == 1).then(|| Engine::new(settings));
                self.report.kerf_version = kerf_version;
                self.report.segments += 1;
            }
            JournalLine::State(engine) => {
                self.engine = Some(*engine);
                self.report.states += 1;
            }
            JournalLine::Gap(records) => {
                self.engine = None;
                self.report.skipped += records;
            }
            JournalLine::Event { at, event } => {
                if let Some(engine) = self.enter(at) {
                    engine.handle(*event, at);
                    self.report.events += 1;
                    self.last_event = Some(line.trim_end().to_owned());
                }
            }
            JournalLine::Decision { at, actions, withdrawn, settled } => {
                self.decide(at, actions, [withdrawn, settled].concat());
            }
            JournalLine::StandBy { at, settled } => self.stand_by(at, settled),
            JournalLine::Definition => {}
        }
        Ok(())
    }

    /// The engine, if a record of this time is to be replayed.
    fn enter(&mut self, at: Time) -> Option<&mut Engine> {
        if self.until.is_some_and(|until| at > until) {
            self.report.is_stopped = true;
            return None;
        }
        let Some(engine) = &mut self.engine else {
            self.report.skipped += 1;
            return None;
        };
        self.report.from.get_or_insert(at);
        self.report.to = Some(at);
        Some(engine)
    }

    /// Lets the engine decide and compares: its actions, then what else came of it.
    fn decide(&mut self, at: Time, actions: Vec<Value>, others: Vec<Value>) {
        let Some(engine) = self.enter(at) else { return };
        let orders = engine.decide(at);
        let decided = orders
            .actions
            .iter()
            .map(|action| action_value(action).expect("every action has a JSON form"));
        let withdrawn = orders.withdrawn.iter().map(to_value);
        let other = withdrawn.chain(orders.settled.iter().map(to_value));
        let count = actions.len() as u64;
        let difference =
            first_difference(actions, decided).or_else(|| first_difference(others, other));
        self.report.decisions += 1;
        match difference {
            None => self.report.actions += count,
            Some(difference) => self.differs(at, difference),
        }
    }

    /// Lets the engine stand by and compares what it gives back.
    fn stand_by(&mut self, at: Time, settled: Vec<Value>) {
        let Some(engine) = self.enter(at) else { return };
        let given_back = engine.stand_by(at);
        if let Some(difference) = first_difference(settled, given_back.iter().map(to_value)) {
            self.differs(at, difference);
        }
    }

    fn differs(&mut self, at: Time, (expected, actual): (Option<Value>, Option<Value>)) {
        let event = self.last_event.take();
        let line = self.decoder.line();
        let difference = Difference { at, line, event, expected, actual };
        self.report.difference = Some(Box::new(difference));
    }
}

fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("what is decided has a JSON form")
}

/// The first place at which two lists differ, with what each has there.
fn first_difference(
    expected: Vec<Value>,
    mut actual: impl Iterator<Item = Value>,
) -> Option<(Option<Value>, Option<Value>)> {
    let mut expected = expected.into_iter();
    loop {
        match (expected.next(), actual.next()) {
            (None, None) => return None,
            (expected, actual) if expected != actual => return Some((expected, actual)),
            _ => {}
        }
    }
}
