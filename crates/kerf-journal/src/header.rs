//! The first line of a journal, and of each of its segments.

use kerf_engine::Settings;
use serde::{Deserialize, Serialize};

/// The version of the format. It changes when an older reader would misread what is written;
/// new fields that an older reader may overlook do not change it.
pub const FORMAT_VERSION: u32 = 1;

/// What has to be known before the first record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub kerf_journal: u32,
    /// The version of Kerf that wrote it. Another version may decide otherwise.
    pub kerf_version: String,
    /// Which of the journal's segments this is, from 1. The first begins with an empty world, each
    /// later one with the engine's state.
    pub segment: u64,
    /// The settings the engine was started with.
    pub settings: Settings,
}

impl Header {
    /// The header of a journal's first segment.
    #[must_use]
    pub fn new(kerf_version: &str, settings: Settings) -> Self {
        Self {
            kerf_journal: FORMAT_VERSION,
            kerf_version: kerf_version.to_owned(),
            segment: 1,
            settings,
        }
    }
}
