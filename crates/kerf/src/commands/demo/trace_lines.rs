//! The trace in lines: what happens many times at once is one line.

use std::collections::BTreeSet;

use kerf_engine::time::{Span, Time};
use kerf_sim::{Record, RecordKind, Simulation};

use super::style::Ink;

/// The lines so far.
#[derive(Default)]
pub(super) struct TraceLines {
    lines: Vec<Line>,
    /// What was done to whom: an action that is tried again is not shown again.
    known: BTreeSet<(&'static str, String, String)>,
    /// Records of the trace that were read.
    read: u64,
    /// Lines that were taken.
    taken: usize,
    began_at: Option<Time>,
}

/// One line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// How long after the beginning.
    pub(super) at: Span,
    /// How it is meant.
    pub(super) ink: Ink,
    /// What was done, or nothing where the rest says all.
    verb: &'static str,
    /// To whom.
    names: Vec<String>,
    /// Why, or what.
    why: String,
}

/// Things of one kind and reason this close together are one line.
const TOGETHER: Span = Span::from_seconds(8);
/// Names shown in a line.
const NAMES_MAX: usize = 2;

impl TraceLines {
    /// Reads what is new in the trace.
    pub(super) fn read(&mut self, simulation: &Simulation) {
        let trace = &simulation.trace;
        self.began_at = Some(simulation.now() - simulation.elapsed());
        let fresh = usize::try_from(trace.recorded - self.read).unwrap_or(usize::MAX);
        let known = trace.records.len();
        for record in trace.records.iter().skip(known.saturating_sub(fresh)) {
            self.add(record);
        }
        self.read = trace.recorded;
    }

    /// The last lines, oldest first.
    pub(super) fn last(&self, count: usize) -> &[Line] {
        &self.lines[self.lines.len().saturating_sub(count)..]
    }

    /// The lines that will not change any more and were not taken before.
    pub(super) fn take_settled(&mut self, now: Span, is_over: bool) -> Vec<Line> {
        let settled = |line: &&Line| is_over || line.at.millis() + TOGETHER.millis() < now.millis();
        let fresh: Vec<Line> =
            self.lines[self.taken..].iter().take_while(settled).cloned().collect();
        self.taken += fresh.len();
        fresh
    }

    /// What was decided and why, with how often, in the order it first came up.
    pub(super) fn decisions(&self) -> Vec<(String, usize)> {
        let mut counts: Vec<(String, usize)> = Vec::new();
        for line in self.lines.iter().filter(|line| !line.verb.is_empty()) {
            let text = format!("{}: {}", line.verb, line.why);
            match counts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += line.names.len(),
                None => counts.push((text, line.names.len())),
            }
        }
        counts
    }

    fn add(&mut self, record: &Record) {
        let Some((verb, ink)) = meaning(record.kind) else { return };
        let name = record.about.to_string();
        if !verb.is_empty() && !self.known.insert((verb, name.clone(), record.text.clone())) {
            return;
        }
        let began_at = self.began_at.unwrap_or(record.at);
        let at = record.at.since(began_at);
        let is_near = |line: &Line| at.millis() <= line.at.millis() + TOGETHER.millis();
        let mut known = self.lines[self.taken..].iter_mut().rev().take_while(|line| is_near(line));
        let same = known.find(|line| line.verb == verb && line.why == record.text);
        match same {
            Some(line) if !verb.is_empty() => line.names.push(name),
            _ => {
                let why = record.text.clone();
                self.lines.push(Line { at, ink, verb, names: vec![name], why });
            }
        }
    }
}

impl Line {
    /// The line as text.
    pub(super) fn text(&self) -> String {
        if self.verb.is_empty() {
            return self.why.clone();
        }
        let names = self.names.len();
        let who = if names <= NAMES_MAX {
            self.names.join(", ")
        } else {
            format!("{} and {} more", self.names[0], names - 1)
        };
        format!("{} {who}: {}", self.verb, self.why)
    }
}

/// What is done in a record of a kind, and its colour; nothing for what is not shown.
fn meaning(kind: RecordKind) -> Option<(&'static str, Ink)> {
    match kind {
        RecordKind::Step => Some(("", Ink::Cyan)),
        RecordKind::Fault => Some(("", Ink::Red)),
        RecordKind::Decision("create claim") => Some(("create", Ink::Green)),
        RecordKind::Decision("launch") => Some(("launch", Ink::Green)),
        RecordKind::Instance => Some(("got", Ink::Green)),
        RecordKind::Decision("delete claim") => Some(("remove", Ink::Yellow)),
        RecordKind::Decision("terminate") => Some(("end", Ink::Yellow)),
        RecordKind::Decision("evict pod") => Some(("evict", Ink::Yellow)),
        RecordKind::Decision("delete pod") => Some(("delete", Ink::Red)),
        // Only says that a drain has begun, which the evictions show.
        RecordKind::Warning("FailedDraining") => None,
        RecordKind::Warning(reason) => Some((reason, Ink::Red)),
        RecordKind::Decision(_) | RecordKind::Event(_) => None,
    }
}
