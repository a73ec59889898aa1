//! Why a text is not a schedule.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::duration::DurationError;

/// One of the five fields of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CronField {
    /// The first field, 0–59.
    Minute,
    /// The second field, 0–23.
    Hour,
    /// The third field, 1–31.
    DayOfMonth,
    /// The fourth field, 1–12 or JAN–DEC.
    Month,
    /// The fifth field, 0–6 or SUN–SAT.
    DayOfWeek,
}

/// Why a text is not a schedule. Part texts are the list entry the mistake is in.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum CronError {
    /// There are not five fields.
    #[error(
        "schedule {text:?} has {found} fields; expected 5 (minute, hour, day of month, month, day \
         of week) or a macro such as @daily"
    )]
    FieldCount {
        /// The text as given, without white space around it.
        text: Box<str>,
        /// How many fields there are.
        found: usize,
    },
    /// The text starts with `@` but names no macro.
    #[error(
        "schedule {text:?} is not a known macro; expected @yearly, @annually, @monthly, @weekly, \
         @daily, @midnight, @hourly or @every followed by a duration"
    )]
    UnknownMacro {
        /// The text as given, without white space around it.
        text: Box<str>,
    },
    /// What follows `@every` is no duration.
    #[error("schedule @every needs a duration: {0}")]
    EveryDuration(#[source] DurationError),
    /// A value is neither a number nor a name of this field.
    #[error("{field} {part:?}: {value:?} is not a number; {}", field.allowed())]
    NotANumber {
        /// The field.
        field: CronField,
        /// The list entry.
        part: Box<str>,
        /// The piece that should be a number.
        value: Box<str>,
    },
    /// A range has more than two ends.
    #[error("{field} {part:?} has too many hyphens; write a range as low-high")]
    TooManyHyphens {
        /// The field.
        field: CronField,
        /// The list entry.
        part: Box<str>,
    },
    /// There is more than one step.
    #[error("{field} {part:?} has too many slashes; write a step as range/step")]
    TooManySlashes {
        /// The field.
        field: CronField,
        /// The list entry.
        part: Box<str>,
    },
    /// The value or the end of the range is not one the field has.
    #[error("{field} {part:?}: {value} is out of range; {}", field.allowed())]
    OutOfRange {
        /// The field.
        field: CronField,
        /// The list entry.
        part: Box<str>,
        /// The value that is too small or too large.
        value: u64,
    },
    /// The range runs backwards.
    #[error("{field} {part:?}: the range starts at {low}, after its end {high}")]
    BackwardRange {
        /// The field.
        field: CronField,
        /// The list entry.
        part: Box<str>,
        /// The first value.
        low: u64,
        /// The last value.
        high: u64,
    },
    /// The step is zero.
    #[error("{field} {part:?}: the step must be 1 or more")]
    ZeroStep {
        /// The field.
        field: CronField,
        /// The list entry.
        part: Box<str>,
    },
}

impl CronField {
    fn allowed(self) -> &'static str {
        match self {
            CronField::Minute => "allowed are 0-59",
            CronField::Hour => "allowed are 0-23",
            CronField::DayOfMonth => "allowed are 1-31",
            CronField::Month => "allowed are 1-12 or JAN-DEC",
            CronField::DayOfWeek => "allowed are 0-6 or SUN-SAT, where Sunday is 0",
        }
    }
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CronField::Minute => "minute",
            CronField::Hour => "hour",
            CronField::DayOfMonth => "day of month",
            CronField::Month => "month",
            CronField::DayOfWeek => "day of week",
        })
    }
}
