//! Durations that may be `Never`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{DurationError, GoDuration};

/// The word that switches a duration off.
const NEVER: &str = "Never";

/// A duration or `Never`, with the text the user wrote so that it is written back unchanged.
///
/// An absent field and `Never` mean the same; the default is therefore `Never`. Equality compares
/// the text too: `60m` and `1h` last equally long but are not the same setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NillableDuration {
    /// `None` is `Never`.
    written: Option<Written>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Written {
    duration: GoDuration,
    text: Box<str>,
}

impl NillableDuration {
    /// No end: the thing does not happen by itself.
    pub const NEVER: NillableDuration = NillableDuration { written: None };

    /// Reads `Never` (in exactly this spelling) or a Go duration.
    pub fn parse(text: &str) -> Result<NillableDuration, DurationError> {
        if text == NEVER {
            return Ok(NillableDuration::NEVER);
        }
        let duration = GoDuration::parse(text)?;
        Ok(NillableDuration { written: Some(Written { duration, text: text.into() }) })
    }

    /// The duration, or `None` for `Never`.
    pub fn duration(&self) -> Option<GoDuration> {
        self.written.as_ref().map(|written| written.duration)
    }

    /// Whether this is `Never`.
    pub fn is_never(&self) -> bool {
        self.written.is_none()
    }

    /// The text to write back, byte for byte what was read.
    pub fn as_str(&self) -> &str {
        self.written.as_ref().map_or(NEVER, |written| &written.text)
    }
}

impl From<GoDuration> for NillableDuration {
    fn from(duration: GoDuration) -> NillableDuration {
        let text = duration.to_string().into_boxed_str();
        NillableDuration { written: Some(Written { duration, text }) }
    }
}

impl TryFrom<String> for NillableDuration {
    type Error = DurationError;

    fn try_from(text: String) -> Result<NillableDuration, DurationError> {
        NillableDuration::parse(&text)
    }
}

impl From<NillableDuration> for String {
    fn from(duration: NillableDuration) -> String {
        duration.as_str().to_owned()
    }
}

impl FromStr for NillableDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<NillableDuration, DurationError> {
        NillableDuration::parse(text)
    }
}

impl fmt::Display for NillableDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
