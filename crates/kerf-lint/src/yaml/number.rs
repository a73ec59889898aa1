//! Unquoted text as a number, by the rules of the YAML reader inside kubectl (YAML 1.1, in Go).

use serde_json::Number;

/// 2^63, the first whole number above what an API server holds exactly.
const WHOLE_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// What unquoted text says as a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numeric {
    /// A number.
    Finite(Number),
    /// `.nan` or `.inf`, which JSON cannot carry.
    NotFinite,
    /// No number at all.
    Text,
}

/// Reads unquoted text. Underscores may group digits; `0x`, `0o`, `0b` and a leading zero choose
/// the base; a leading zero with a digit 8 or 9 falls back to a decimal, as in Go.
pub(super) fn read(text: &str) -> Numeric {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Numeric::NotFinite,
        _ if matches!(text.trim_start_matches(['+', '-']), ".inf" | ".Inf" | ".INF") => {
            return Numeric::NotFinite;
        }
        _ => {}
    }
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    if !starts || looks_like_date(text) {
        return Numeric::Text;
    }
    let plain = if text.starts_with('.') { text.to_owned() } else { text.replace('_', "") };
    whole(&plain).or_else(|| decimal(&plain)).map_or(Numeric::Text, Numeric::Finite)
}

/// `2026-01-31` stays text; kubectl keeps what looks like a date as it was written.
fn looks_like_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 5 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-'
}

fn whole(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some(two) if two.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return None;
    }
    let size = u128::from_str_radix(digits, base).ok();
    let small = size.and_then(|size| i128::try_from(size).ok());
    let signed = small.map(|size| if negative { -size } else { size });
    match signed.map(i64::try_from) {
        Some(Ok(whole)) => Some(Number::from(whole)),
        // Larger whole numbers reach the server as digits and are held as floating point there.
        _ if base == 10 => digits.parse().ok().and_then(signed_float(negative)),
        _ => size.map(|size| size as f64).and_then(signed_float(negative)),
    }
}

fn signed_float(negative: bool) -> impl Fn(f64) -> Option<Number> {
    move |size| Number::from_f64(if negative { -size } else { size })
}

fn decimal(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_fits = digits(before)
        && digits(after)
        && (!before.is_empty() || (mantissa.starts_with('.') && !after.is_empty()));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    if !mantissa_fits || !exponent_fits {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    // JSON writes 1.0 and 1e3 as 1 and 1000, so the server sees a whole number.
    if value.fract() == 0.0 && value.abs() < WHOLE_LIMIT {
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}
