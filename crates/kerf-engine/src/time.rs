//! Moments and lengths of time, as they come with events.

use std::ops::{Add, Sub};

use kerf_model::duration::GoDuration;
use serde::{Deserialize, Serialize};

/// A moment: milliseconds since 1970 in UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(i64);

/// A length of time in milliseconds; never negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(u64);

const MILLIS_PER_SECOND: u64 = 1_000;
const NANOS_PER_MILLI: i64 = 1_000_000;

impl Time {
    /// The moment that many milliseconds after 1970 began.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The moment that many seconds after 1970 began.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(MILLIS_PER_SECOND as i64))
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970, as the API keeps them.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(MILLIS_PER_SECOND as i64)
    }

    /// How long ago `earlier` was; nothing if it is yet to come.
    #[must_use]
    pub fn since(self, earlier: Time) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Span {
    /// That many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// That many seconds.
    #[must_use]
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(MILLIS_PER_SECOND))
    }

    /// That many minutes.
    #[must_use]
    pub const fn from_minutes(minutes: u64) -> Self {
        Self::from_seconds(minutes.saturating_mul(60))
    }

    /// In milliseconds.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// In whole seconds, rounded down.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.0 / MILLIS_PER_SECOND
    }

    /// What is left of it after so long; nothing if that is longer.
    #[must_use]
    pub const fn less(self, other: Span) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// That many times as long.
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl From<GoDuration> for Span {
    /// A negative duration has passed already: nothing.
    fn from(duration: GoDuration) -> Self {
        Self(u64::try_from(duration.nanos() / NANOS_PER_MILLI).unwrap_or(0))
    }
}

impl Add<Span> for Time {
    type Output = Time;

    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }
}

impl Sub<Span> for Time {
    type Output = Time;

    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }
}
