//! Prices in whole micro-dollars per hour.

mod adjustment;
mod decimal;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use adjustment::PriceAdjustment;

/// Micro-dollars in a dollar.
const MICROS_PER_DOLLAR: u64 = 1_000_000;
/// Decimal places of a micro-dollar.
const MICRO_PLACES: u32 = 6;
/// Decimal places that are printed even when they are zero.
const PLACES_MIN: usize = 4;

/// What an instance costs, in micro-dollars per hour.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Price {
    micros_per_hour: u64,
}

/// Why a text is not a price or a price adjustment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PriceError {
    /// It is no decimal number of dollars.
    #[error("price {text:?} is not a decimal number of dollars per hour such as 0.096")]
    Malformed {
        /// The text as given.
        text: Box<str>,
    },
    /// It is neither a signed amount nor a signed percentage.
    #[error(
        "price adjustment {text:?} is neither a signed amount such as -0.01 nor a signed \
         percentage such as +10%"
    )]
    MalformedAdjustment {
        /// The text as given.
        text: Box<str>,
    },
    /// A price cannot be lowered by more than all of it.
    #[error("price adjustment {text:?} takes away more than the whole price; the least is -100%")]
    BelowNothing {
        /// The text as given.
        text: Box<str>,
    },
    /// The number is too large to be held.
    #[error("price {text:?} is too large")]
    Overflow {
        /// The text as given.
        text: Box<str>,
    },
}

impl Price {
    /// Free of charge.
    pub const ZERO: Price = Price { micros_per_hour: 0 };
    /// Of what is sold without a known price: a million dollars an hour. That is above every price
    /// there is, so that it is bought last and never taken for free, and ten thousand instances of
    /// it still add up.
    pub const UNKNOWN: Price = Price { micros_per_hour: 1_000_000 * MICROS_PER_DOLLAR };

    /// Whether it is a price, and not the want of one. So is no sum that has one of those in it.
    pub const fn is_known(self) -> bool {
        self.micros_per_hour < Self::UNKNOWN.micros_per_hour
    }

    /// A price of so many micro-dollars per hour.
    pub const fn from_micros_per_hour(micros_per_hour: u64) -> Price {
        Price { micros_per_hour }
    }

    /// Reads a decimal number of dollars per hour (`0.096`, `12`). Digits below a micro-dollar are
    /// rounded to the nearest one, halves up.
    pub fn parse(text: &str) -> Result<Price, PriceError> {
        let malformed = || PriceError::Malformed { text: text.into() };
        let has_whole_part = text.starts_with(|c: char| c.is_ascii_digit());
        let number = decimal::parse(text).filter(|_| has_whole_part).ok_or_else(malformed)?;
        let micros = number.scaled(MICRO_PLACES).and_then(|micros| u64::try_from(micros).ok());
        let overflow = || PriceError::Overflow { text: text.into() };
        micros.map(Price::from_micros_per_hour).ok_or_else(overflow)
    }

    /// The price in micro-dollars per hour.
    pub const fn micros_per_hour(self) -> u64 {
        self.micros_per_hour
    }

    /// The sum, or `None` if it is out of range.
    pub fn checked_add(self, other: Price) -> Option<Price> {
        self.micros_per_hour.checked_add(other.micros_per_hour).map(Price::from_micros_per_hour)
    }

    /// The difference, or `None` if it would be below zero.
    pub fn checked_sub(self, other: Price) -> Option<Price> {
        self.micros_per_hour.checked_sub(other.micros_per_hour).map(Price::from_micros_per_hour)
    }

    /// The price of so many, or `None` if it is out of range.
    pub fn checked_mul(self, count: u64) -> Option<Price> {
        self.micros_per_hour.checked_mul(count).map(Price::from_micros_per_hour)
    }
}

impl FromStr for Price {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Price, PriceError> {
        Price::parse(text)
    }
}

/// Prints dollars per hour with four decimal places, or up to six where they carry something.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.micros_per_hour / MICROS_PER_DOLLAR;
        let fraction = format!("{:06}", self.micros_per_hour % MICROS_PER_DOLLAR);
        let (fixed, extra) = fraction.split_at(PLACES_MIN);
        f.pad(&format!("{dollars}.{fixed}{}", extra.trim_end_matches('0')))
    }
}
