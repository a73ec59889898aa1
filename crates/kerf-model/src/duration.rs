//! Durations in Go's text form, and durations that may be `Never`.

mod nillable;
mod parse;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use nillable::NillableDuration;

const NANOS_PER_MICRO: u64 = 1_000;
const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
const NANOS_PER_MINUTE: u64 = 60 * NANOS_PER_SECOND;
const NANOS_PER_HOUR: u64 = 60 * NANOS_PER_MINUTE;

/// A signed length of time in nanoseconds, about ±292 years, read and printed as Go does.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct GoDuration {
    nanos: i64,
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum DurationError {
    /// The text is empty or only a sign.
    #[error("duration {text:?} has no number; expected something like 1h30m, 45s or 0")]
    NoNumber {
        /// The text as given.
        text: Box<str>,
    },
    /// Something else stands where a digit or a dot is due.
    #[error("duration {text:?} is malformed at {rest:?}: expected a digit")]
    ExpectedNumber {
        /// The text as given.
        text: Box<str>,
        /// From the place of the mistake to the end.
        rest: Box<str>,
    },
    /// A number is followed by nothing or by another number.
    #[error("duration {text:?} has a number without a unit; expected ns, us, ms, s, m or h")]
    MissingUnit {
        /// The text as given.
        text: Box<str>,
    },
    /// A number is followed by something that is no unit.
    #[error("duration {text:?} uses {unit:?}, which is not a unit; expected ns, us, ms, s, m or h")]
    UnknownUnit {
        /// The text as given.
        text: Box<str>,
        /// The letters after the number.
        unit: Box<str>,
    },
    /// The length exceeds 2⁶³−1 nanoseconds.
    #[error("duration {text:?} is longer than the 292 years that can be held")]
    Overflow {
        /// The text as given.
        text: Box<str>,
    },
}

impl GoDuration {
    /// No time at all.
    pub const ZERO: GoDuration = GoDuration { nanos: 0 };

    /// Reads a sequence of decimal numbers with units: `1h15m30.5s`, `-250ms`, `0`.
    pub fn parse(text: &str) -> Result<GoDuration, DurationError> {
        parse::duration(text)
    }

    /// A duration of so many nanoseconds.
    pub const fn from_nanos(nanos: i64) -> GoDuration {
        GoDuration { nanos }
    }

    /// A duration of so many seconds, or `None` if that is out of range.
    pub const fn from_seconds(seconds: i64) -> Option<GoDuration> {
        match seconds.checked_mul(NANOS_PER_SECOND as i64) {
            Some(nanos) => Some(GoDuration { nanos }),
            None => None,
        }
    }

    /// The length in nanoseconds.
    pub const fn nanos(self) -> i64 {
        self.nanos
    }

    /// The length in whole seconds, rounded towards zero.
    pub const fn whole_seconds(self) -> i64 {
        self.nanos / NANOS_PER_SECOND as i64
    }

    /// The sum, or `None` if it is out of range.
    pub fn checked_add(self, other: GoDuration) -> Option<GoDuration> {
        self.nanos.checked_add(other.nanos).map(GoDuration::from_nanos)
    }
}

impl FromStr for GoDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<GoDuration, DurationError> {
        GoDuration::parse(text)
    }
}

/// Prints hours, minutes and seconds (`720h0m0s`), or one smaller unit below a second (`1.5ms`).
impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.nanos < 0 { "-" } else { "" };
        let nanos = self.nanos.unsigned_abs();
        let text = match nanos {
            0 => "0s".to_owned(),
            1..NANOS_PER_MICRO => format!("{sign}{nanos}ns"),
            NANOS_PER_MICRO..NANOS_PER_MILLI => {
                format!("{sign}{}µs", decimal(nanos, NANOS_PER_MICRO))
            }
            NANOS_PER_MILLI..NANOS_PER_SECOND => {
                format!("{sign}{}ms", decimal(nanos, NANOS_PER_MILLI))
            }
            _ => format!("{sign}{}", hours_minutes_seconds(nanos)),
        };
        f.pad(&text)
    }
}

fn hours_minutes_seconds(nanos: u64) -> String {
    let hours = nanos / NANOS_PER_HOUR;
    let minutes = nanos % NANOS_PER_HOUR / NANOS_PER_MINUTE;
    let seconds = decimal(nanos % NANOS_PER_MINUTE, NANOS_PER_SECOND);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// `amount / unit` (a power of ten) as a decimal without trailing zeros.
fn decimal(amount: u64, unit: u64) -> String {
    let whole = amount / unit;
    let rest = amount % unit;
    if rest == 0 {
        return whole.to_string();
    }
    let places = unit.ilog10() as usize;
    let fraction = format!("{rest:0places$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}
