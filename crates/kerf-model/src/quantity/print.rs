//! Printing quantities in canonical form: the largest suffix that leaves no fraction.

use std::fmt;

use super::{Format, NANOS_PER_UNIT, Quantity};

/// Decimal suffixes from nano to exa, a thousandfold apart.
const DECIMAL_SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Binary suffixes from none to exbi, 1024-fold apart.
const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/// The exponent nano-units are counted in.
const NANO_EXPONENT: usize = 9;
/// Below this many units a binary amount is printed in decimal form, as Kubernetes does.
const BINARY_UNITS_MIN: i128 = 1024;

pub(super) fn quantity(quantity: Quantity, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Quantity { nanos, format } = quantity;
    if nanos == 0 {
        return f.pad("0");
    }
    let text = match format {
        Format::BinarySi if has_binary_form(nanos) => {
            let (number, power) = divide_out(nanos / NANOS_PER_UNIT, 1024, BINARY_SUFFIXES.len());
            format!("{number}{}", BINARY_SUFFIXES[power])
        }
        Format::BinarySi | Format::DecimalSi => {
            let (number, power) = divide_out(nanos, 1000, DECIMAL_SUFFIXES.len());
            format!("{number}{}", DECIMAL_SUFFIXES[power])
        }
        Format::DecimalExponent => {
            let (number, power) = divide_out(nanos, 1000, usize::MAX);
            exponent_form(number, 3 * power)
        }
    };
    f.pad(&text)
}

/// Whether printing in powers of 1024 would neither round nor read oddly.
fn has_binary_form(nanos: i128) -> bool {
    let units_are_whole = nanos % NANOS_PER_UNIT == 0;
    units_are_whole && (nanos / NANOS_PER_UNIT).unsigned_abs() >= BINARY_UNITS_MIN.unsigned_abs()
}

/// Takes the base out of a non-zero amount as often as it goes, fewer than `powers` times.
fn divide_out(mut amount: i128, base: i128, powers: usize) -> (i128, usize) {
    let mut power = 0;
    while power + 1 < powers && amount % base == 0 {
        amount /= base;
        power += 1;
    }
    (amount, power)
}

/// A number counted in 10^(exponent above nano).
fn exponent_form(number: i128, above_nano: usize) -> String {
    match above_nano {
        NANO_EXPONENT => number.to_string(),
        below if below < NANO_EXPONENT => format!("{number}e-{}", NANO_EXPONENT - below),
        above => format!("{number}e{}", above - NANO_EXPONENT),
    }
}
