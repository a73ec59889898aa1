//! Reading quantities.

use super::{Format, NANOS_PER_UNIT, Quantity, QuantityError};

/// The largest binary amount: 2⁶³−1 units, the largest whole number Kubernetes computes with.
const BINARY_NANOS_MAX: u128 = i64::MAX as u128 * NANOS_PER_UNIT as u128;
/// Decimal places of a nano-unit.
const NANO_PLACES: i64 = 9;
/// Binary exponents up to this one (`Ti`) let a missing number pass as zero, as Kubernetes does.
const BINARY_EXPONENT_WITHOUT_DIGITS_MAX: u32 = 40;

/// What the suffix multiplies the number by.
#[derive(Clone, Copy)]
enum Multiplier {
    Decimal { exponent: i64, format: Format },
    Binary { exponent: u32 },
}

/// A quantity cut into its parts; the digits are ASCII.
struct Parts<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    suffix: &'a str,
}

pub(super) fn quantity(text: &str) -> Result<Quantity, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Empty);
    }
    let parts = cut(text);
    let multiplier = multiplier(parts.suffix).ok_or_else(|| QuantityError::UnknownSuffix {
        text: text.into(),
        suffix: parts.suffix.into(),
    })?;
    if parts.whole.is_empty() && parts.fraction.is_empty() && !may_lack_digits(multiplier) {
        return Err(QuantityError::NoDigits { text: text.into() });
    }
    let overflow = || QuantityError::Overflow { text: text.into() };
    let (magnitude, format) = match multiplier {
        Multiplier::Decimal { exponent, format } => {
            (decimal_nanos(&parts, exponent).ok_or_else(overflow)?, format)
        }
        Multiplier::Binary { exponent } => {
            let nanos = binary_nanos(&parts, exponent).ok_or_else(overflow)?;
            (nanos, binary_format(nanos))
        }
    };
    let magnitude = i128::try_from(magnitude).map_err(|_| overflow())?;
    Ok(Quantity { nanos: if parts.negative { -magnitude } else { magnitude }, format })
}

/// Cuts a text into sign, whole digits, fraction digits and whatever is left.
fn cut(text: &str) -> Parts<'_> {
    let bytes = text.as_bytes();
    let negative = bytes.first() == Some(&b'-');
    let whole_start = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole_end = end_of_digits(bytes, whole_start);
    let (fraction_start, fraction_end) = if bytes.get(whole_end) == Some(&b'.') {
        (whole_end + 1, end_of_digits(bytes, whole_end + 1))
    } else {
        (whole_end, whole_end)
    };
    Parts {
        negative,
        whole: &bytes[whole_start..whole_end],
        fraction: &bytes[fraction_start..fraction_end],
        suffix: &text[fraction_end..],
    }
}

fn end_of_digits(bytes: &[u8], start: usize) -> usize {
    bytes[start..]
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .map_or(bytes.len(), |offset| start + offset)
}

fn multiplier(suffix: &str) -> Option<Multiplier> {
    let si = |exponent| Some(Multiplier::Decimal { exponent, format: Format::DecimalSi });
    let binary = |exponent| Some(Multiplier::Binary { exponent });
    match suffix {
        "n" => si(-9),
        "u" => si(-6),
        "m" => si(-3),
        "" => si(0),
        "k" => si(3),
        "M" => si(6),
        "G" => si(9),
        "T" => si(12),
        "P" => si(15),
        "E" => si(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            Some(Multiplier::Decimal { exponent, format: Format::DecimalExponent })
        }
    }
}

/// Kubernetes reads a sign or suffix without digits as zero, but only on its fast path: not for
/// the two largest binary suffixes and not for exponents below a nano-unit.
fn may_lack_digits(multiplier: Multiplier) -> bool {
    match multiplier {
        Multiplier::Decimal { exponent, .. } => exponent >= -NANO_PLACES,
        Multiplier::Binary { exponent } => exponent <= BINARY_EXPONENT_WITHOUT_DIGITS_MAX,
    }
}

/// number · 10^exponent in nano-units, rounded up; `None` when it does not fit.
fn decimal_nanos(parts: &Parts<'_>, exponent: i64) -> Option<u128> {
    let digits = || parts.whole.iter().chain(parts.fraction).map(|digit| digit - b'0');
    let significant = digits().skip_while(|digit| *digit == 0).count();
    if significant == 0 {
        return Some(0);
    }
    let significant_digits = digits().skip(parts.whole.len() + parts.fraction.len() - significant);
    // Text lengths fit an i64; an exponent near its ends only has to stay near them.
    let shift = exponent.saturating_add(NANO_PLACES).saturating_sub(parts.fraction.len() as i64);
    let kept = usize::try_from((significant as i64).saturating_add(shift.min(0))).unwrap_or(0);
    let mut nanos: u128 = 0;
    let mut rest = false;
    for (index, digit) in significant_digits.enumerate() {
        if index < kept {
            nanos = nanos.checked_mul(10)?.checked_add(u128::from(digit))?;
        } else {
            rest |= digit != 0;
        }
    }
    nanos = nanos.checked_add(u128::from(rest))?;
    let zeros = u32::try_from(shift.max(0)).ok()?;
    nanos.checked_mul(10u128.checked_pow(zeros)?)
}

/// number · 2^exponent in nano-units, rounded up; `None` above the largest binary amount.
fn binary_nanos(parts: &Parts<'_>, exponent: u32) -> Option<u128> {
    let unit_nanos = (NANOS_PER_UNIT as u128) << exponent;
    let mut whole: u128 = 0;
    for digit in parts.whole {
        whole = whole.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    // Long multiplication of 0.ddd by the unit, from the last digit to the first: the carry out of
    // the first digit is the whole part of the product, the digits left behind its fraction.
    let mut carry: u128 = 0;
    let mut rest = false;
    for digit in parts.fraction.iter().rev() {
        let product = u128::from(digit - b'0') * unit_nanos + carry;
        rest |= !product.is_multiple_of(10);
        carry = product / 10;
    }
    let nanos = whole.checked_mul(unit_nanos)?.checked_add(carry)?.checked_add(u128::from(rest))?;
    (nanos <= BINARY_NANOS_MAX).then_some(nanos)
}

/// Below one unit a binary amount has no binary spelling, so it becomes a decimal one.
fn binary_format(nanos: u128) -> Format {
    if (1..NANOS_PER_UNIT as u128).contains(&nanos) { Format::DecimalSi } else { Format::BinarySi }
}
