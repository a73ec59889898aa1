//! Changes of prices by a NodeOverlay.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{MICRO_PLACES, Price, PriceError, decimal};

/// Parts a percentage is kept in: millionths of a percent.
const MICROS_PER_PERCENT: i128 = 1_000_000;
/// The whole of a price in those parts.
const WHOLE: i128 = 100 * MICROS_PER_PERCENT;

/// A change of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PriceAdjustment {
    /// A new price in place of the old.
    Absolute(Price),
    /// So many micro-dollars per hour more or less.
    Add {
        /// The change; negative makes it cheaper.
        micros_per_hour: i64,
    },
    /// So many millionths of a percent of the old price more or less.
    Percent {
        /// The change, −100 000 000 (all of it) or more.
        micro_percent: i64,
    },
}

impl PriceAdjustment {
    /// Reads `+0.05`, `-.1`, `+25%` or `-12.5%`. The sign is required.
    pub fn parse(text: &str) -> Result<PriceAdjustment, PriceError> {
        let malformed = || PriceError::MalformedAdjustment { text: text.into() };
        let overflow = || PriceError::Overflow { text: text.into() };
        let (sign, unsigned) = match text.as_bytes().first() {
            Some(b'+') => (1, &text[1..]),
            Some(b'-') => (-1, &text[1..]),
            _ => return Err(malformed()),
        };
        let (digits, is_percent) = match unsigned.strip_suffix('%') {
            Some(digits) => (digits, true),
            None => (unsigned, false),
        };
        let number = decimal::parse(digits).ok_or_else(malformed)?;
        let change = sign * number.scaled(MICRO_PLACES).ok_or_else(overflow)?;
        if is_percent && change < -WHOLE {
            return Err(PriceError::BelowNothing { text: text.into() });
        }
        let change = i64::try_from(change).map_err(|_| overflow())?;
        Ok(if is_percent {
            PriceAdjustment::Percent { micro_percent: change }
        } else {
            PriceAdjustment::Add { micros_per_hour: change }
        })
    }

    /// The price after the change: never below zero, held at the largest price if it would exceed
    /// it, rounded to the nearest micro-dollar. A price that is not known can be set, not changed.
    pub fn apply(self, price: Price) -> Price {
        if !price.is_known() && !matches!(self, PriceAdjustment::Absolute(_)) {
            return price;
        }
        let old = i128::from(price.micros_per_hour());
        let new = match self {
            PriceAdjustment::Absolute(new) => return new,
            PriceAdjustment::Add { micros_per_hour } => old + i128::from(micros_per_hour),
            // A product held at the end of 127 bits is, divided again, still beyond every price.
            PriceAdjustment::Percent { micro_percent } => old
                .saturating_mul(WHOLE + i128::from(micro_percent))
                .saturating_add(WHOLE / 2)
                .div_euclid(WHOLE),
        };
        Price::from_micros_per_hour(u64::try_from(new.max(0)).unwrap_or(u64::MAX))
    }
}

impl FromStr for PriceAdjustment {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<PriceAdjustment, PriceError> {
        PriceAdjustment::parse(text)
    }
}

/// Prints the change as it is written in an overlay: `+0.0500`, `-12.5%`. An absolute price has no
/// sign.
impl fmt::Display for PriceAdjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |change: i64| if change < 0 { '-' } else { '+' };
        match *self {
            PriceAdjustment::Absolute(price) => price.fmt(f),
            PriceAdjustment::Add { micros_per_hour: change } => {
                let size = Price::from_micros_per_hour(change.unsigned_abs());
                write!(f, "{}{size}", sign(change))
            }
            PriceAdjustment::Percent { micro_percent: change } => {
                let size = change.unsigned_abs();
                let parts = MICROS_PER_PERCENT.unsigned_abs() as u64;
                let fraction = format!("{:06}", size % parts);
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                write!(f, "{}{}{point}{fraction}%", sign(change), size / parts)
            }
        }
    }
}
