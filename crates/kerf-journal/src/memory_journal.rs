//! A journal kept in memory, for simulations and tests.

use crate::encode::Encoder;
use crate::header::Header;
use crate::record::{Record, Sink};

/// Lines in memory. It grows without a bound: what runs with it must end by itself.
#[derive(Clone, Debug)]
pub struct MemoryJournal {
    encoder: Encoder,
    lines: String,
}

impl MemoryJournal {
    /// A journal that begins with this header.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        let mut encoder = Encoder::default();
        let lines = encoder.start(header).expect("a header has a JSON form");
        Self { encoder, lines }
    }

    /// All lines so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.lines
    }
}

impl Sink for MemoryJournal {
    fn take(&mut self, record: Record) {
        self.lines += &self.encoder.encode(&record).expect("every record has a JSON form");
    }
}
