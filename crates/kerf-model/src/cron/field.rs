//! One field of a schedule: which of its values are meant.

use super::error::{CronError, CronField};

/// The values of one field, one bit each, and whether a star was among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ValueSet {
    bits: u64,
    star: bool,
}

/// What a field may hold.
pub(super) struct Field {
    name: CronField,
    min: u64,
    max: u64,
    /// Names of the values from `min` on.
    names: &'static [&'static str],
}

impl Field {
    pub(super) const MINUTE: Field = Field::numbers(CronField::Minute, 0, 59);
    pub(super) const HOUR: Field = Field::numbers(CronField::Hour, 0, 23);
    pub(super) const DAY_OF_MONTH: Field = Field::numbers(CronField::DayOfMonth, 1, 31);
    pub(super) const MONTH: Field = Field {
        name: CronField::Month,
        min: 1,
        max: 12,
        names: &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    };
    pub(super) const DAY_OF_WEEK: Field = Field {
        name: CronField::DayOfWeek,
        min: 0,
        max: 6,
        names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    };

    const fn numbers(name: CronField, min: u64, max: u64) -> Field {
        Field { name, min, max, names: &[] }
    }

    /// Reads a comma-separated list. Empty entries are skipped, so `,` allows nothing at all.
    pub(super) fn parse(&self, text: &str) -> Result<ValueSet, CronError> {
        let mut values = ValueSet::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let more = self.parse_part(part)?;
            values = ValueSet { bits: values.bits | more.bits, star: values.star || more.star };
        }
        Ok(values)
    }

    /// Reads `*`, `value` or `low-high`, each optionally with `/step`.
    fn parse_part(&self, part: &str) -> Result<ValueSet, CronError> {
        let (range, step_text) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        let (low, mut high, star) = self.parse_range(part, range)?;
        let step = match step_text {
            None => 1,
            Some(step) if step.contains('/') => {
                return Err(CronError::TooManySlashes { field: self.name, part: part.into() });
            }
            Some(step) => self.number(part, step)?,
        };
        // A single value with a step means "from here on".
        if step_text.is_some() && !range.contains('-') {
            high = self.max;
        }
        self.check(part, low, high, step)?;
        let bits = (low..=high)
            .step_by(usize::try_from(step).unwrap_or(usize::MAX))
            .fold(0, |bits, value| bits | 1 << value);
        Ok(ValueSet { bits, star: star && step == 1 })
    }

    /// The ends of a range and whether it is the whole field. Text after a star and a hyphen is
    /// not looked at.
    fn parse_range(&self, part: &str, range: &str) -> Result<(u64, u64, bool), CronError> {
        let mut ends = range.split('-');
        let first = ends.next().unwrap_or_default();
        if matches!(first, "*" | "?") {
            return Ok((self.min, self.max, true));
        }
        let low = self.value(part, first)?;
        let high = match ends.next() {
            Some(second) => self.value(part, second)?,
            None => low,
        };
        match ends.next() {
            Some(_) => Err(CronError::TooManyHyphens { field: self.name, part: part.into() }),
            None => Ok((low, high, false)),
        }
    }

    fn value(&self, part: &str, text: &str) -> Result<u64, CronError> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        match named {
            Some(index) => Ok(self.min + index as u64),
            None => self.number(part, text),
        }
    }

    fn number(&self, part: &str, text: &str) -> Result<u64, CronError> {
        // A sign is only ever a plus here or in a step such as `*/-5`, which is no number either.
        text.parse::<i64>().ok().and_then(|number| u64::try_from(number).ok()).ok_or_else(|| {
            CronError::NotANumber { field: self.name, part: part.into(), value: text.into() }
        })
    }

    fn check(&self, part: &str, low: u64, high: u64, step: u64) -> Result<(), CronError> {
        let field = self.name;
        if let Some(value) = [low, high].into_iter().find(|v| !(self.min..=self.max).contains(v)) {
            return Err(CronError::OutOfRange { field, part: part.into(), value });
        }
        if low > high {
            return Err(CronError::BackwardRange { field, part: part.into(), low, high });
        }
        if step == 0 {
            return Err(CronError::ZeroStep { field, part: part.into() });
        }
        Ok(())
    }
}

impl ValueSet {
    pub(super) fn contains(self, value: u32) -> bool {
        1u64.checked_shl(value).is_some_and(|bit| self.bits & bit != 0)
    }

    /// The smallest value that is not below the given one.
    pub(super) fn first_from(self, value: u32) -> Option<u32> {
        let bits = self.bits & u64::MAX.checked_shl(value)?;
        (bits != 0).then(|| bits.trailing_zeros())
    }

    pub(super) fn has_star(self) -> bool {
        self.star
    }
}
