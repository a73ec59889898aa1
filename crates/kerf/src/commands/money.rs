//! Money for people: two to four decimals.

use kerf_model::price::Price;

/// Hours in a month, as AWS counts them.
const HOURS_PER_MONTH: u128 = 730;
/// From a hundred dollars on nobody reads hundredths of a cent.
const SHORT_FROM_MICROS: u128 = 100_000_000;

/// Micro-dollars as dollars: four decimals, or two from a hundred dollars on.
pub(crate) fn dollars(micros: u128) -> String {
    if micros >= SHORT_FROM_MICROS { rounded(micros, 2) } else { rounded(micros, 4) }
}

/// A price as dollars an hour.
pub(crate) fn per_hour(price: Price) -> String {
    dollars(price.micros_per_hour().into())
}

/// A price as dollars a month, to the cent.
pub(crate) fn per_month(price: Price) -> String {
    rounded(u128::from(price.micros_per_hour()) * HOURS_PER_MONTH, 2)
}

fn rounded(micros: u128, decimals: usize) -> String {
    let step = 10_u128.pow(6 - u32::try_from(decimals).unwrap_or(0).min(6));
    let units = (micros + step / 2) / step;
    let per_dollar = 1_000_000 / step;
    format!("{}.{:0decimals$}", units / per_dollar, units % per_dollar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_have_four_decimals_and_large_ones_two() {
        assert_eq!(dollars(0), "0.0000");
        assert_eq!(dollars(30_650), "0.0307");
        assert_eq!(dollars(99_999_900), "99.9999");
        assert_eq!(dollars(100_004_999), "100.00");
        let price = Price::from_micros_per_hour(1_558_400);
        assert_eq!((per_hour(price), per_month(price)), ("1.5584".into(), "1137.63".into()));
    }
}
