//! The Gregorian calendar over Unix days, without leap seconds or time zones.

pub(super) const SECONDS_PER_MINUTE: i64 = 60;
pub(super) const SECONDS_PER_DAY: i64 = 86_400;
pub(super) const MINUTES_PER_HOUR: i64 = 60;

/// The calendar repeats after 400 years of this many days (365·400 + 97 leap days).
const DAYS_PER_CYCLE: i64 = 146_097;
const YEARS_PER_CYCLE: i64 = 400;
/// Days from 1970-01-01 to 2000-01-01, the start of a cycle (30 years, 7 of them leap).
const CYCLE_START_DAY: i64 = 10_957;
const CYCLE_START_YEAR: i64 = 2000;

/// A day with its place in the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    /// Days since 1970-01-01.
    pub(super) day_number: i64,
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: u32,
    /// 1 to 31.
    pub(super) day: u32,
}

impl Date {
    /// The date of a day counted from 1970-01-01.
    pub(super) fn of_day(day_number: i64) -> Date {
        let from_cycle_start = day_number - CYCLE_START_DAY;
        let cycle = from_cycle_start.div_euclid(DAYS_PER_CYCLE);
        let mut rest = from_cycle_start.rem_euclid(DAYS_PER_CYCLE);
        // No year has more days than 366, so the guess is never too late and at most one too early.
        let mut year_of_cycle = rest / 366;
        while rest >= days_before_year(year_of_cycle + 1) {
            year_of_cycle += 1;
        }
        rest -= days_before_year(year_of_cycle);
        let year = CYCLE_START_YEAR + cycle * YEARS_PER_CYCLE + year_of_cycle;
        let mut month = 1;
        while rest >= i64::from(days_in_month(year, month)) {
            rest -= i64::from(days_in_month(year, month));
            month += 1;
        }
        // What is left is less than the days of a month.
        Date { day_number, year, month, day: rest as u32 + 1 }
    }

    pub(super) fn next_day(self) -> Date {
        if self.day < days_in_month(self.year, self.month) {
            Date { day_number: self.day_number + 1, day: self.day + 1, ..self }
        } else {
            self.first_of_next_month()
        }
    }

    pub(super) fn first_of_next_month(self) -> Date {
        let days_left = days_in_month(self.year, self.month) - self.day + 1;
        let (year, month) =
            if self.month == 12 { (self.year + 1, 1) } else { (self.year, self.month + 1) };
        Date { day_number: self.day_number + i64::from(days_left), year, month, day: 1 }
    }

    /// 0 for Sunday to 6 for Saturday.
    pub(super) fn weekday(self) -> u32 {
        // 1970-01-01 was a Thursday, number 4.
        (self.day_number + 4).rem_euclid(7) as u32
    }
}

fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a cycle before one of its years. The first year of a cycle is a leap year.
fn days_before_year(year_of_cycle: i64) -> i64 {
    let multiples_of = |years: i64| (year_of_cycle + years - 1) / years;
    365 * year_of_cycle + multiples_of(4) - multiples_of(100) + multiples_of(400)
}

fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests;
