//! A journal kept in memory, for simulations and tests.

use crate::encode::Encoder;
use crate::header::Header;
use crate::record::{Record, Sink};

/// Lines in memory. It grows without a bound: what runs with it must end by itself.
#[derive(Clone, Debug)]
pub struct MemoryJournal {
    encoder: Encoder,
    lines: String,
    /// Records after which the engine's state is written once more, as a new segment would begin.
    state_every: Option<u64>,
    records: u64,
}

impl MemoryJournal {
    /// A journal that begins with this header.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        let mut encoder = Encoder::default();
        let lines = encoder.start(header).expect("a header has a JSON form");
        Self { encoder, lines, state_every: None, records: 0 }
    }

    /// Writes the engine's state every so many records.
    #[must_use]
    pub fn with_state_every(mut self, records: u64) -> Self {
        self.state_every = Some(records);
        self
    }

    /// All lines so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.lines
    }
}

impl Sink for MemoryJournal {
    fn take(&mut self, record: Record) {
        self.records += 1;
        self.lines += &self.encoder.encode(&record).expect("every record has a JSON form");
    }

    fn wants_state(&self) -> bool {
        self.state_every.is_some_and(|every| (self.records + 1).is_multiple_of(every))
    }
}
