//! Resource quantities, exact to the nano-unit.

mod parse;
mod print;
mod serial;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use thiserror::Error;

/// Nano-units in one unit: the finest amount Kubernetes keeps.
const NANOS_PER_UNIT: i128 = 1_000_000_000;
/// Nano-units in one milli-unit.
const NANOS_PER_MILLI: i128 = 1_000_000;

/// An amount of some resource: `1500m`, `2Gi`, `1e3`.
///
/// The amount is exact. The way it was written (decimal, binary or with an exponent) is kept only
/// for printing: equality, order and hash look at the amount alone, so `1024Mi`, `1Gi` and
/// `1073741824` are one and the same key.
///
/// The range is that of an `i128` of nano-units, about ±1.7·10²⁹ units. Binary amounts are refused
/// above 2⁶³−1, where Kubernetes would silently take 2⁶³−1 instead.
#[derive(Clone, Copy)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

/// The family of suffixes a quantity is printed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Powers of a thousand: `n`, `u`, `m`, none, `k`, `M`, `G`, `T`, `P`, `E`.
    DecimalSi,
    /// Powers of 1024: `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei`.
    BinarySi,
    /// A decimal exponent: `12e6`.
    DecimalExponent,
}

/// Why a text is not a quantity Kerf can hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// The text is empty.
    #[error("a quantity cannot be empty; write 0 for none")]
    Empty,
    /// The part before the suffix has no digits where digits are needed.
    #[error("quantity {text:?} has no digits; expected a number such as 1, 0.5 or 250m")]
    NoDigits {
        /// The text as given.
        text: Box<str>,
    },
    /// What follows the number is no suffix.
    #[error(
        "quantity {text:?} ends in {suffix:?}, which is not a suffix; expected one of n, u, m, k, \
         M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3"
    )]
    UnknownSuffix {
        /// The text as given.
        text: Box<str>,
        /// The part after the number.
        suffix: Box<str>,
    },
    /// The amount is larger than can be held (binary suffixes: larger than 2⁶³−1).
    #[error("quantity {text:?} is too large to be kept exactly")]
    Overflow {
        /// The text as given.
        text: Box<str>,
    },
}

impl Quantity {
    /// Nothing, in decimal form.
    pub const ZERO: Quantity = Quantity { nanos: 0, format: Format::DecimalSi };

    /// Reads a quantity in any of the spellings Kubernetes accepts.
    ///
    /// Amounts finer than a nano-unit are rounded away from zero. As in Kubernetes, a lone sign or
    /// suffix without any digit (`+`, `Ki`) counts as zero.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        parse::quantity(text)
    }

    /// A whole number of units, in decimal form.
    pub const fn from_int(units: i64) -> Quantity {
        Quantity { nanos: units as i128 * NANOS_PER_UNIT, format: Format::DecimalSi }
    }

    /// A number of thousandths, in decimal form.
    pub const fn from_milli(millis: i64) -> Quantity {
        Quantity { nanos: millis as i128 * NANOS_PER_MILLI, format: Format::DecimalSi }
    }

    /// A number of bytes, in binary form.
    pub const fn from_bytes(bytes: i64) -> Quantity {
        Quantity { nanos: bytes as i128 * NANOS_PER_UNIT, format: Format::BinarySi }
    }

    /// A number of nano-units printed in the given form.
    pub const fn from_nanos(nanos: i128, format: Format) -> Quantity {
        Quantity { nanos, format }
    }

    /// The exact amount in nano-units.
    pub const fn nanos(self) -> i128 {
        self.nanos
    }

    /// The form this quantity prefers to be printed in.
    pub const fn format(self) -> Format {
        self.format
    }

    /// The amount in whole units, a remainder rounded away from zero.
    pub const fn value(self) -> i128 {
        divide_away_from_zero(self.nanos, NANOS_PER_UNIT)
    }

    /// The amount in thousandths, a remainder rounded away from zero.
    pub const fn milli_value(self) -> i128 {
        divide_away_from_zero(self.nanos, NANOS_PER_MILLI)
    }

    /// Whether the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// Whether the amount is below zero.
    pub const fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// The sum, or `None` if it is out of range. It keeps the form of `self` unless that is zero.
    pub fn checked_add(self, other: Quantity) -> Option<Quantity> {
        let nanos = self.nanos.checked_add(other.nanos)?;
        Some(Quantity { nanos, format: self.format_beside(other) })
    }

    /// The difference, or `None` if it is out of range. It keeps the form of `self` unless that is
    /// zero.
    pub fn checked_sub(self, other: Quantity) -> Option<Quantity> {
        let nanos = self.nanos.checked_sub(other.nanos)?;
        Some(Quantity { nanos, format: self.format_beside(other) })
    }

    /// The sum, held at the end of the range if it would leave it.
    #[must_use]
    pub fn saturating_add(self, other: Quantity) -> Quantity {
        let nanos = self.nanos.saturating_add(other.nanos);
        Quantity { nanos, format: self.format_beside(other) }
    }

    /// The difference, held at the end of the range if it would leave it.
    #[must_use]
    pub fn saturating_sub(self, other: Quantity) -> Quantity {
        let nanos = self.nanos.saturating_sub(other.nanos);
        Quantity { nanos, format: self.format_beside(other) }
    }

    /// The amount with its sign turned, or `None` for the one amount that has no opposite.
    pub fn checked_neg(self) -> Option<Quantity> {
        Some(Quantity { nanos: self.nanos.checked_neg()?, ..self })
    }

    /// The amount times a whole number, or `None` if it is out of range.
    pub fn checked_mul(self, factor: i64) -> Option<Quantity> {
        Some(Quantity { nanos: self.nanos.checked_mul(i128::from(factor))?, ..self })
    }

    /// The form of a sum or difference with `other`: a zero adopts its partner's.
    fn format_beside(self, other: Quantity) -> Format {
        if self.is_zero() { other.format } else { self.format }
    }
}

/// Division that never reports less than there is, in either direction.
const fn divide_away_from_zero(amount: i128, unit: i128) -> i128 {
    let whole = amount / unit;
    if amount % unit == 0 { whole } else { whole + amount.signum() }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

impl Default for Quantity {
    fn default() -> Quantity {
        Quantity::ZERO
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Quantity, QuantityError> {
        Quantity::parse(text)
    }
}

/// Prints the canonical form.
///
/// Kubernetes echoes some other spellings (`1.500`, `+2`) until the first calculation and drops the
/// suffix of decimal amounts from 10²¹ on; Kerf prints the canonical, complete form always.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print::quantity(*self, f)
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quantity({self})")
    }
}
