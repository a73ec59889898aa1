//! Lines as what the engine was told and what it decided.

use kerf_engine::Engine;
use kerf_engine::event::Event;
use kerf_engine::time::Time;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::header::{FORMAT_VERSION, Header};
use crate::shared::Read;

/// Reads the lines of one segment after the other.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    read: Read,
    has_header: bool,
    line: u64,
}

/// What a line says.
#[derive(Debug)]
pub enum JournalLine {
    /// A segment begins.
    Header(Box<Header>),
    /// The engine took in an event.
    Event {
        /// The time it was told.
        at: Time,
        /// The event.
        event: Box<Event>,
    },
    /// The engine decided.
    Decision {
        /// The time it was told.
        at: Time,
        /// Its actions, as they were written.
        actions: Vec<Value>,
        /// Solves that were withdrawn, as they were written.
        withdrawn: Vec<Value>,
        /// Notices that got their outcome, as they were written.
        settled: Vec<Value>,
    },
    /// The engine stood by.
    StandBy {
        /// The time of it.
        at: Time,
        /// Notices that got their outcome, as they were written.
        settled: Vec<Value>,
    },
    /// Everything the engine knew.
    State(Box<Engine>),
    /// So many records are missing.
    Gap(u64),
    /// A value that later lines refer to.
    Definition,
}

/// Why a journal cannot be read. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JournalError {
    /// The first line is not a header.
    #[error("not a journal: line 1 is no header such as {{\"kerf_journal\":{FORMAT_VERSION},…}}")]
    NotAJournal,
    /// The format is of another version.
    #[error(
        "this journal has format version {found}, and this version of Kerf reads {FORMAT_VERSION}; \
         replay it with the version that wrote it, {kerf_version}"
    )]
    Version {
        /// The version of the format.
        found: u32,
        /// The version of Kerf that wrote it.
        kerf_version: String,
    },
    /// A line is damaged, or was written by a version of Kerf with other types.
    #[error("line {line} cannot be read: {message}")]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
}

/// As much of a header as every version has.
#[derive(Deserialize)]
struct HeaderVersion {
    kerf_journal: u32,
    #[serde(default)]
    kerf_version: String,
}

impl Decoder {
    /// Reads one line, with or without the line break at its end.
    ///
    /// # Errors
    /// It does not belong to a journal of this version.
    pub fn read(&mut self, text: &str) -> Result<JournalLine, JournalError> {
        self.line += 1;
        let Ok(mut value) = serde_json::from_str::<Value>(text) else {
            return Err(if self.has_header {
                self.malformed("it is not JSON")
            } else {
                JournalError::NotAJournal
            });
        };
        if value.get("kerf_journal").is_some() {
            return self.header(value);
        }
        if !self.has_header {
            return Err(JournalError::NotAJournal);
        }
        if let Some(definition) = value.get_mut("define") {
            let (number, value) = self.parse(definition.take())?;
            let is_next = self.read.define(number, value);
            return if is_next { Ok(JournalLine::Definition) } else { Err(self.unknown()) };
        }
        if !self.read.resolve(&mut value) {
            return Err(self.unknown());
        }
        self.record(value)
    }

    /// How many lines of this file were read.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Counts lines from 1 again.
    pub fn next_file(&mut self) {
        self.line = 0;
    }

    fn header(&mut self, value: Value) -> Result<JournalLine, JournalError> {
        let version: HeaderVersion = self.parse(value.clone())?;
        if version.kerf_journal != FORMAT_VERSION {
            let HeaderVersion { kerf_journal: found, kerf_version } = version;
            return Err(JournalError::Version { found, kerf_version });
        }
        let header = self.parse(value)?;
        self.read = Read::default();
        self.has_header = true;
        Ok(JournalLine::Header(Box::new(header)))
    }

    fn record(&self, mut value: Value) -> Result<JournalLine, JournalError> {
        let mut take = |name: &str| value.get_mut(name).map(Value::take);
        if let Some(event) = take("event") {
            let at = self.parse(take("at").unwrap_or_default())?;
            return Ok(JournalLine::Event { at, event: self.parse(event)? });
        }
        if let Some(at) = take("decide") {
            let mut list = |name| take(name).map_or(Ok(Vec::new()), |list| self.parse(list));
            let (actions, withdrawn) = (list("actions")?, list("withdrawn")?);
            let (settled, at) = (list("settled")?, self.parse(at)?);
            return Ok(JournalLine::Decision { at, actions, withdrawn, settled });
        }
        if let Some(at) = take("stand_by") {
            let settled = take("settled").map_or(Ok(Vec::new()), |list| self.parse(list))?;
            return Ok(JournalLine::StandBy { at: self.parse(at)?, settled });
        }
        if let Some(state) = take("state") {
            return Ok(JournalLine::State(self.parse(state)?));
        }
        match take("gap") {
            Some(records) => Ok(JournalLine::Gap(self.parse(records)?)),
            None => Err(self.malformed("it is no kind of record this version knows")),
        }
    }

    fn parse<T: DeserializeOwned>(&self, value: Value) -> Result<T, JournalError> {
        serde_json::from_value(value).map_err(|error| self.malformed(&error.to_string()))
    }

    fn unknown(&self) -> JournalError {
        self.malformed("it refers to a value that no earlier line defines")
    }

    fn malformed(&self, message: &str) -> JournalError {
        JournalError::Malformed { line: self.line, message: message.to_owned() }
    }
}
