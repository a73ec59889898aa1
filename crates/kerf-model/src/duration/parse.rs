//! Reading Go durations.

use super::{
    DurationError, GoDuration, NANOS_PER_HOUR, NANOS_PER_MICRO, NANOS_PER_MILLI, NANOS_PER_MINUTE,
    NANOS_PER_SECOND,
};

/// 2⁶³: the magnitude of the most negative duration, one more than that of the longest.
const MAGNITUDE_MAX: u64 = 1 << 63;

/// A decimal fraction as Go keeps it: the digits that fit 63 bits and the power of ten below them.
struct Fraction {
    digits: u64,
    scale: f64,
}

pub(super) fn duration(text: &str) -> Result<GoDuration, DurationError> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(GoDuration::ZERO);
    }
    if unsigned.is_empty() {
        return Err(DurationError::NoNumber { text: text.into() });
    }
    let overflow = || DurationError::Overflow { text: text.into() };
    let mut nanos: u64 = 0;
    let mut rest = unsigned;
    while !rest.is_empty() {
        let (part, after) = component(text, rest)?;
        nanos = nanos.checked_add(part).filter(within_magnitude).ok_or_else(overflow)?;
        rest = after;
    }
    let signed = if negative { 0i64.checked_sub_unsigned(nanos) } else { nanos.try_into().ok() };
    signed.map(GoDuration::from_nanos).ok_or_else(overflow)
}

/// Reads one number with its unit and returns its nanoseconds and what follows.
fn component<'a>(text: &str, rest: &'a str) -> Result<(u64, &'a str), DurationError> {
    let overflow = || DurationError::Overflow { text: text.into() };
    let (whole_digits, after_whole) = split_digits(rest);
    let (fraction_digits, after_number) = match after_whole.strip_prefix('.') {
        Some(after_dot) => split_digits(after_dot),
        None => ("", after_whole),
    };
    if whole_digits.is_empty() && fraction_digits.is_empty() {
        return Err(DurationError::ExpectedNumber { text: text.into(), rest: rest.into() });
    }
    let whole = whole_number(whole_digits).ok_or_else(overflow)?;
    let unit_end =
        after_number.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after_number.len());
    let (unit, after) = after_number.split_at(unit_end);
    let unit_nanos = match unit {
        "" => return Err(DurationError::MissingUnit { text: text.into() }),
        _ => nanos_per(unit)
            .ok_or_else(|| DurationError::UnknownUnit { text: text.into(), unit: unit.into() })?,
    };
    let nanos = whole
        .checked_mul(unit_nanos)
        .and_then(|nanos| nanos.checked_add(fraction(fraction_digits).of(unit_nanos)))
        .filter(within_magnitude)
        .ok_or_else(overflow)?;
    Ok((nanos, after))
}

fn nanos_per(unit: &str) -> Option<u64> {
    match unit {
        "ns" => Some(1),
        // The micro sign U+00B5 and the Greek letter U+03BC look alike and are both in use.
        "us" | "\u{b5}s" | "\u{3bc}s" => Some(NANOS_PER_MICRO),
        "ms" => Some(NANOS_PER_MILLI),
        "s" => Some(NANOS_PER_SECOND),
        "m" => Some(NANOS_PER_MINUTE),
        "h" => Some(NANOS_PER_HOUR),
        _ => None,
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// The number the digits spell (none: zero), if it is at most 2⁶³.
fn whole_number(digits: &str) -> Option<u64> {
    digits
        .bytes()
        .try_fold(0u64, |number, digit| {
            number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
        .filter(within_magnitude)
}

/// The leading digits of a fraction that fit; the others are too small to matter.
fn fraction(digits: &str) -> Fraction {
    let mut fraction = Fraction { digits: 0, scale: 1.0 };
    for digit in digits.bytes() {
        let longer = fraction
            .digits
            .checked_mul(10)
            .and_then(|number| number.checked_add(u64::from(digit - b'0')))
            .filter(within_magnitude);
        let Some(longer) = longer else { break };
        fraction = Fraction { digits: longer, scale: fraction.scale * 10.0 };
    }
    fraction
}

impl Fraction {
    /// The fraction of a unit in nanoseconds, rounded down.
    ///
    /// Floating point on purpose: Go computes it so, and a nanosecond of difference would show when
    /// a value is written back. The operations are single IEEE 754 ones, the same on any machine.
    fn of(&self, unit_nanos: u64) -> u64 {
        (self.digits as f64 * (unit_nanos as f64 / self.scale)) as u64
    }
}

fn within_magnitude(nanos: &u64) -> bool {
    *nanos <= MAGNITUDE_MAX
}
