//! One line for each message, as JSON or as text.

use std::io::Write;

use kerf_notices::routing::{Outcome, Report};
use serde_json::json;

/// How a line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// An object a line.
    #[default]
    Json,
    /// For people.
    Text,
}

/// What is written at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Failures and missing permissions only.
    Error,
    /// Every message.
    #[default]
    Info,
}

/// Writes what became of messages to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// How.
    pub format: Format,
    /// How much.
    pub level: Level,
}

impl Log {
    /// Reads `LOG_LEVEL` and `LOG_FORMAT`; what is neither known keeps the default.
    pub fn from_lookup(get: impl Fn(&str) -> Option<String>) -> Self {
        let level = match get("LOG_LEVEL").as_deref() {
            Some("error" | "warn") => Level::Error,
            _ => Level::Info,
        };
        let format = match get("LOG_FORMAT").as_deref() {
            Some("text") => Format::Text,
            _ => Format::Json,
        };
        Self { format, level }
    }

    /// Writes a report: a line for each message and each missing permission.
    pub(crate) fn report(self, report: &Report, millis: u128) {
        for outcome in &report.outcomes {
            if self.level == Level::Info || outcome.verdict.is_failure() {
                self.write(&self.outcome(outcome, millis));
            }
        }
        report.denied.iter().for_each(|denied| self.problem(denied));
    }

    /// Writes something that somebody should look at.
    pub(crate) fn problem(self, what: &str) {
        match self.format {
            Format::Json => self.write(&json!({"level": "error", "message": what}).to_string()),
            Format::Text => self.write(&format!("error: {what}")),
        }
    }

    fn outcome(self, outcome: &Outcome, millis: u128) -> String {
        let instances: Vec<_> = outcome.instances.iter().map(ToString::to_string).collect();
        let kind = outcome.kind.map_or("unknown", |kind| kind.word());
        let event_id = outcome.event_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let queues: Vec<_> = outcome.queues.iter().map(|queue| queue.as_ref()).collect();
        let clusters: Vec<_> = outcome.clusters.iter().map(|name| name.as_ref()).collect();
        match self.format {
            Format::Json => json!({
                "level": if outcome.verdict.is_failure() { "error" } else { "info" },
                "eventId": event_id, "kind": kind, "instances": instances,
                "clusters": clusters, "queues": queues, "outcome": outcome.verdict.word(),
                "message": outcome.verdict.to_string(), "millis": millis,
            })
            .to_string(),
            Format::Text => format!(
                "{event_id} {kind} {} {} {} ({millis} ms)",
                instances.join(","),
                clusters.join(","),
                outcome.verdict
            ),
        }
    }

    fn write(self, line: &str) {
        // A log that cannot be written must not stop messages.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}
