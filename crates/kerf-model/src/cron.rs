//! Cron schedules in UTC.
//!
//! Five fields (minute, hour, day of month, month, day of week) or a macro such as `@daily`, read
//! the way disruption budgets have always read them:
//!
//! - Lists, ranges, steps, `*` and `?`, and three-letter names in any case; Sunday is 0, never 7.
//! - When both day fields are restricted, a day matching *either* counts. A field that holds a bare
//!   `*` or `?` (also inside a list, also with step 1) is not restricted, so then both must match.
//! - A search gives up at the end of the fifth year after the one it starts in.

mod calendar;
mod error;
mod field;

use std::fmt;
use std::str::FromStr;

use crate::duration::GoDuration;
use calendar::{Date, MINUTES_PER_HOUR, SECONDS_PER_DAY, SECONDS_PER_MINUTE};
use field::{Field, ValueSet};
use serde::{Deserialize, Serialize};

pub use error::{CronError, CronField};

/// How many years after the one a search starts in are looked at.
const SEARCH_YEARS: i64 = 5;
/// Separates the `@every` macro from its duration.
const EVERY: &str = "@every ";

/// When something recurs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Schedule {
    text: Box<str>,
    recurrence: Recurrence,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Recurrence {
    Fields(Fields),
    /// A fixed distance from whatever time is asked about, at least one second.
    Every {
        seconds: i64,
    },
}

/// The allowed values of each field. Seconds are always zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Fields {
    minute: ValueSet,
    hour: ValueSet,
    day_of_month: ValueSet,
    month: ValueSet,
    day_of_week: ValueSet,
}

impl Schedule {
    /// Reads five fields separated by white space, or a macro.
    pub fn parse(text: &str) -> Result<Schedule, CronError> {
        let trimmed = text.trim();
        let recurrence = if trimmed.starts_with('@') {
            macro_recurrence(trimmed)?
        } else {
            Recurrence::Fields(Fields::parse(trimmed)?)
        };
        Ok(Schedule { text: text.into(), recurrence })
    }

    /// The first moment of the schedule strictly after the given one, both in Unix seconds.
    ///
    /// `None` if there is none up to the end of the fifth following year: the 30th of February, or
    /// the 29th around 2100.
    pub fn next_after(&self, unix_seconds: i64) -> Option<i64> {
        match &self.recurrence {
            Recurrence::Fields(fields) => fields.next_after(unix_seconds),
            Recurrence::Every { seconds } => unix_seconds.checked_add(*seconds),
        }
    }

    /// The schedule as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// What a macro stands for.
fn macro_recurrence(text: &str) -> Result<Recurrence, CronError> {
    let fields = match text {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => match text.strip_prefix(EVERY) {
            Some(duration) => return every(duration),
            None => return Err(CronError::UnknownMacro { text: text.into() }),
        },
    };
    Fields::parse(fields).map(Recurrence::Fields)
}

/// `@every` counts whole seconds and at least one.
fn every(duration: &str) -> Result<Recurrence, CronError> {
    let duration = GoDuration::parse(duration).map_err(CronError::EveryDuration)?;
    Ok(Recurrence::Every { seconds: duration.whole_seconds().max(1) })
}

impl Fields {
    fn parse(text: &str) -> Result<Fields, CronError> {
        let texts: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day_of_month, month, day_of_week] = texts[..] else {
            return Err(CronError::FieldCount { text: text.into(), found: texts.len() });
        };
        Ok(Fields {
            minute: Field::MINUTE.parse(minute)?,
            hour: Field::HOUR.parse(hour)?,
            day_of_month: Field::DAY_OF_MONTH.parse(day_of_month)?,
            month: Field::MONTH.parse(month)?,
            day_of_week: Field::DAY_OF_WEEK.parse(day_of_week)?,
        })
    }

    fn next_after(&self, unix_seconds: i64) -> Option<i64> {
        let start = unix_seconds.checked_add(1)?;
        let mut date = Date::of_day(start.div_euclid(SECONDS_PER_DAY));
        let last_year = date.year + SEARCH_YEARS;
        // Hits lie on full minutes, so the first candidate is the next one.
        let second_of_day = start.rem_euclid(SECONDS_PER_DAY);
        let mut from_minute = (second_of_day + SECONDS_PER_MINUTE - 1) / SECONDS_PER_MINUTE;
        // At most six years of days, and whole months are skipped.
        while date.year <= last_year {
            if !self.month.contains(date.month) {
                date = date.first_of_next_month();
            } else {
                if self.day_matches(&date)
                    && let Some(minute) = self.minute_of_day(from_minute)
                {
                    // The first midnight of an i64 of seconds lies before all of them.
                    let midnight = i128::from(date.day_number) * i128::from(SECONDS_PER_DAY);
                    return (midnight + i128::from(minute * SECONDS_PER_MINUTE)).try_into().ok();
                }
                date = date.next_day();
            }
            from_minute = 0;
        }
        None
    }

    /// Either day field will do when both are restricted; otherwise the restricted one decides.
    fn day_matches(&self, date: &Date) -> bool {
        let month_day = self.day_of_month.contains(date.day);
        let week_day = self.day_of_week.contains(date.weekday());
        if self.day_of_month.has_star() || self.day_of_week.has_star() {
            month_day && week_day
        } else {
            month_day || week_day
        }
    }

    /// The first allowed minute of a day, counted from midnight, not before the given one.
    fn minute_of_day(&self, from_minute: i64) -> Option<i64> {
        let [from_hour, from_minute] =
            [from_minute / MINUTES_PER_HOUR, from_minute % MINUTES_PER_HOUR].map(|n| n as u32);
        let minute_of = |hour: u32, minute| MINUTES_PER_HOUR * i64::from(hour) + i64::from(minute);
        if self.hour.contains(from_hour)
            && let Some(minute) = self.minute.first_from(from_minute)
        {
            return Some(minute_of(from_hour, minute));
        }
        let hour = self.hour.first_from(from_hour + 1)?;
        Some(minute_of(hour, self.minute.first_from(0)?))
    }
}

impl TryFrom<String> for Schedule {
    type Error = CronError;

    fn try_from(text: String) -> Result<Schedule, CronError> {
        Schedule::parse(&text)
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> String {
        schedule.text.into()
    }
}

impl FromStr for Schedule {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Schedule, CronError> {
        Schedule::parse(text)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
