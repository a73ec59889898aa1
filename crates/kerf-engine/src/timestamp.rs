//! Moments as annotations carry them: RFC 3339 in whole seconds.

use crate::time::Time;

const SECONDS_PER_DAY: i64 = 86_400;
/// Days from the first of March of year 0 to 1970 began, in the Gregorian calendar.
const DAYS_TO_1970: i64 = 719_468;
/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;

/// The moment in UTC.
pub(crate) fn rfc3339(time: Time) -> String {
    let (days, rest) =
        (time.seconds().div_euclid(SECONDS_PER_DAY), time.seconds().rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Reads `2025-01-31T08:30:00Z`, also with a fraction of a second, which is dropped, or with an
/// offset. Anything else is nothing.
pub(crate) fn parse_rfc3339(text: &str) -> Option<Time> {
    let (date, rest) = (text.get(..10)?, text.get(11..)?);
    let (time, zone) = (rest.get(..8)?, rest.get(8..)?);
    if !matches!(text.as_bytes()[10], b'T' | b't' | b' ') {
        return None;
    }
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let days = days_of(year, month, day);
    // A day that does not exist would come back as another one.
    if date_of(days) != (year, month, day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days * SECONDS_PER_DAY + hour * 3_600 + minute * 60 + second;
    Some(Time::from_seconds(seconds - offset_seconds(zone)?))
}

fn offset_seconds(zone: &str) -> Option<i64> {
    let zone = match zone.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => zone,
    };
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let [hours, minutes] = numbers(&zone[1..], ':', [2, 2])?;
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for (place, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *place = is_number.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

/// Years are counted from March here, so that the leap day is the last of its year.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests;
