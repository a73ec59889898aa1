//! A moment, to the second, the way EventBridge writes it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const SECONDS_PER_DAY: i64 = 86_400;
const DAYS_BEFORE_MONTH: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
/// 9999-12-31T23:59:59Z: the last moment four digits of a year can name.
const LAST_SECOND: i64 = 253_402_300_799;

/// Seconds since 1970-01-01T00:00:00Z; printed and stored as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(i64);

impl UnixSeconds {
    /// The moment this many seconds after the epoch; nothing outside the years 1970 to 9999.
    pub fn new(seconds: i64) -> Option<UnixSeconds> {
        (0..=LAST_SECOND).contains(&seconds).then_some(UnixSeconds(seconds))
    }

    /// The moment this many seconds after the epoch, or the nearest one that can be named.
    pub fn at(seconds: i64) -> UnixSeconds {
        UnixSeconds(seconds.clamp(0, LAST_SECOND))
    }

    /// Reads RFC 3339 with any offset; a fraction of a second is cut off.
    pub fn parse(text: &str) -> Option<UnixSeconds> {
        let (date, rest) = text.split_at_checked(10)?;
        let (clock, rest) = rest.split_at_checked(9)?;
        let day = day_number(date)?;
        let second_of_day = second_of_day(clock)?;
        let offset = offset_seconds(without_fraction(rest)?)?;
        UnixSeconds::new(day * SECONDS_PER_DAY + second_of_day - offset)
    }

    /// The number of seconds since the epoch.
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// The moment so many seconds later, or the last one that can be named.
    pub fn plus(self, seconds: i64) -> UnixSeconds {
        UnixSeconds(self.0.saturating_add(seconds).clamp(0, LAST_SECOND))
    }

    /// Seconds from `earlier` to this moment; negative when it is in fact later.
    pub fn since(self, earlier: UnixSeconds) -> i64 {
        self.0 - earlier.0
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut year, mut day) = (1970, self.0 / SECONDS_PER_DAY);
        while day >= days_in_year(year) {
            day -= days_in_year(year);
            year += 1;
        }
        let month = (1..=12).rev().find(|&month| days_before_month(year, month) <= day);
        let month = month.expect("no day of the year comes before the first of January");
        let day_of_month = day - days_before_month(year, month) + 1;
        let second = self.0 % SECONDS_PER_DAY;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day_of_month:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl Serialize for UnixSeconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UnixSeconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UnixSeconds, D::Error> {
        let text = String::deserialize(deserializer)?;
        UnixSeconds::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!("{text:?} is not a time such as 2023-11-16T23:38:14Z"))
        })
    }
}

/// Days from 1970-01-01 to `YYYY-MM-DD`.
fn day_number(date: &str) -> Option<i64> {
    let (year, rest) = date.split_at_checked(4)?;
    let (month, day) = rest.strip_prefix('-')?.split_once('-')?;
    let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    if year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    let month_end =
        if month == 12 { days_in_year(year) } else { days_before_month(year, month + 1) };
    let day_of_year = days_before_month(year, month) + day - 1;
    if day < 1 || day_of_year >= month_end {
        return None;
    }
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    Some((year - 1970) * 365 + leap_days(year - 1) - leap_days(1969) + day_of_year)
}

/// Seconds since midnight of `Thh:mm:ss`; a leap second counts as the second before it.
fn second_of_day(clock: &str) -> Option<i64> {
    let clock = clock.strip_prefix(['T', 't', ' '])?;
    let (hour, rest) = clock.split_once(':')?;
    let (minute, second) = rest.split_once(':')?;
    let (hour, minute, second) = (digits(hour, 2)?, digits(minute, 2)?, digits(second, 2)?);
    let is_on_the_clock = hour < 24 && minute < 60 && second <= 60;
    is_on_the_clock.then_some(hour * 3600 + minute * 60 + second.min(59))
}

fn without_fraction(rest: &str) -> Option<&str> {
    let Some(fraction) = rest.strip_prefix('.') else { return Some(rest) };
    let end = fraction.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then(|| &fraction[end..])
}

fn offset_seconds(offset: &str) -> Option<i64> {
    if matches!(offset, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = match offset.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// A number of exactly so many digits; `parse` alone would also take a sign.
fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_year(year: i64) -> i64 {
    365 + i64::from(is_leap(year))
}

fn days_before_month(year: i64, month: i64) -> i64 {
    let leap_day = i64::from(month > 2 && is_leap(year));
    DAYS_BEFORE_MONTH[usize::try_from(month - 1).expect("months count from one")] + leap_day
}
