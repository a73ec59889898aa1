//! A share of a whole, from nothing to all of it.

use std::fmt;

use thiserror::Error;

/// Millionths in one.
const WHOLE_PPM: u32 = 1_000_000;
/// Decimal places a ratio may have: those of a millionth.
const RATIO_PLACES: usize = 6;
/// Decimal places a percentage may have: those of a millionth of the whole.
const PERCENT_PLACES: usize = 4;

/// A share of a whole, in parts per million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    ppm: u32,
}

/// Why a text is not a share. The text must change; retrying does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShareError {
    /// It is no plain decimal number.
    #[error("{text:?} is not a decimal number such as {example}")]
    Malformed {
        /// The text as given.
        text: Box<str>,
        /// What a good one looks like.
        example: &'static str,
    },
    /// It asks for more than everything.
    #[error("{text:?} is more than the whole, which is {whole}")]
    AboveWhole {
        /// The text as given.
        text: Box<str>,
        /// How the whole is written.
        whole: &'static str,
    },
    /// It has more decimal places than are kept.
    #[error("{text:?} has more than {places} decimal places")]
    TooFine {
        /// The text as given.
        text: Box<str>,
        /// How many are kept.
        places: usize,
    },
}

impl Share {
    /// Nothing.
    pub const NONE: Share = Share { ppm: 0 };
    /// All of it.
    pub const WHOLE: Share = Share { ppm: WHOLE_PPM };

    /// A share of so many parts per million; more than the whole counts as the whole.
    #[must_use]
    pub const fn from_ppm(ppm: u32) -> Share {
        Share { ppm: if ppm > WHOLE_PPM { WHOLE_PPM } else { ppm } }
    }

    /// Reads a ratio between 0 and 1, such as `0.075`.
    ///
    /// # Errors
    /// The text is no such number.
    pub fn parse_ratio(text: &str) -> Result<Share, ShareError> {
        parse(text, RATIO_PLACES, "0.075", "1")
    }

    /// Reads a percentage without its sign between 0 and 100, such as `7.5`.
    ///
    /// # Errors
    /// The text is no such number.
    pub fn parse_percent(text: &str) -> Result<Share, ShareError> {
        parse(text, PERCENT_PLACES, "7.5", "100")
    }

    /// The share in parts per million.
    #[must_use]
    pub const fn ppm(self) -> u32 {
        self.ppm
    }

    /// This share of an amount, a remainder rounded up.
    #[must_use]
    pub fn of_rounded_up(self, amount: u64) -> u64 {
        let parts = u128::from(amount) * u128::from(self.ppm);
        let share = parts.div_ceil(u128::from(WHOLE_PPM));
        u64::try_from(share).expect("a share is not larger than its whole, which is a u64")
    }
}

/// Prints a ratio: `0.075`.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.ppm / WHOLE_PPM, self.ppm % WHOLE_PPM);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

fn parse(
    text: &str,
    places: usize,
    example: &'static str,
    whole_text: &'static str,
) -> Result<Share, ShareError> {
    let malformed = || ShareError::Malformed { text: text.into(), example };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return Err(malformed());
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > places {
        return Err(ShareError::TooFine { text: text.into(), places });
    }
    let digits = format!("{}{fraction:0<places$}", whole.trim_start_matches('0'));
    match digits.parse::<u32>() {
        Ok(ppm) if ppm <= WHOLE_PPM => Ok(Share { ppm }),
        // Digits alone fail to parse only when they are too many.
        _ => Err(ShareError::AboveWhole { text: text.into(), whole: whole_text }),
    }
}
