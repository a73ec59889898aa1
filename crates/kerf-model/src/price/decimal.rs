//! Decimal numbers of any length, without floating point.

/// The digits of an unsigned decimal number.
pub(super) struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
}

/// Reads `12`, `12.5` or `.5`; a dot needs digits behind it.
pub(super) fn parse(text: &str) -> Option<Decimal<'_>> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None if text.is_empty() => return None,
        None => (text, ""),
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (is_digits(whole) && is_digits(fraction)).then_some(Decimal { whole, fraction })
}

impl Decimal<'_> {
    /// The number times 10^places, rounded to the nearest whole number, halves up; `None` if it
    /// does not fit.
    pub(super) fn scaled(&self, places: u32) -> Option<i128> {
        let places = places as usize;
        let kept = &self.fraction[..self.fraction.len().min(places)];
        let missing_zeros = u32::try_from(places - kept.len()).ok()?;
        let mut number: i128 = 0;
        for digit in self.whole.bytes().chain(kept.bytes()) {
            number = number.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        number = number.checked_mul(10i128.checked_pow(missing_zeros)?)?;
        let rounds_up = self.fraction.as_bytes().get(places).is_some_and(|digit| *digit >= b'5');
        number.checked_add(i128::from(rounds_up))
    }
}
