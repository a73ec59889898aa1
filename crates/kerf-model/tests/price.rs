//! Prices and their changes by overlays.

mod arbitrary_text;

use kerf_model::price::{Price, PriceAdjustment, PriceError};
use proptest::prelude::*;

fn price(text: &str) -> Price {
    Price::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn prices_are_read_to_the_micro_dollar_and_printed_with_four_places_or_more() {
    for (text, micros, printed) in [
        ("0", 0, "0.0000"),
        ("0.096", 96_000, "0.0960"),
        ("0.0960000000", 96_000, "0.0960"),
        ("12", 12_000_000, "12.0000"),
        ("0.01234", 12_340, "0.01234"),
        ("0.000001", 1, "0.000001"),
        ("0.0000005", 1, "0.000001"),
        ("0.0000004999", 0, "0.0000"),
        ("0.9999999", 1_000_000, "1.0000"),
        ("007.5", 7_500_000, "7.5000"),
        ("18446744073709.551615", u64::MAX, "18446744073709.551615"),
    ] {
        assert_eq!(price(text).micros_per_hour(), micros, "{text}");
        assert_eq!(price(text).to_string(), printed, "{text}");
    }
}

#[test]
fn what_is_not_a_price_is_refused() {
    for text in ["", ".", ".5", "5.", "-1", "+1", "1e3", "0,5", " 1", "1.2.3", "$1", "٣"] {
        assert_eq!(Price::parse(text), Err(PriceError::Malformed { text: text.into() }), "{text}");
    }
    for text in ["18446744073709.551616", "99999999999999999999999999999999999999999999"] {
        assert_eq!(Price::parse(text), Err(PriceError::Overflow { text: text.into() }), "{text}");
    }
}

#[test]
fn adjustments_change_a_price_of_ten_cents() {
    for (text, adjusted) in [
        ("+0.05", "0.1500"),
        ("-0.05", "0.0500"),
        ("+.05", "0.1500"),
        ("-0.5", "0.0000"),
        ("+0", "0.1000"),
        ("+10%", "0.1100"),
        ("-10%", "0.0900"),
        ("-12.5%", "0.0875"),
        ("-100%", "0.0000"),
        ("+250%", "0.3500"),
        ("+0.001%", "0.100001"),
        ("+.0005%", "0.100001"),
        ("-0.0004%", "0.1000"),
    ] {
        let adjustment: PriceAdjustment = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(adjustment.apply(price("0.1")).to_string(), adjusted, "{text}");
    }
    assert_eq!(PriceAdjustment::Absolute(price("0.3")).apply(price("0.1")), price("0.3"));
    let most = Price::from_micros_per_hour(u64::MAX);
    let largest = PriceAdjustment::Percent { micro_percent: i64::MAX };
    assert_eq!(largest.apply(most), most);
}

#[test]
fn a_price_that_is_not_known_is_above_all_others_and_can_only_be_set() {
    assert!(Price::UNKNOWN > price("20000"), "no instance costs that");
    assert!(!Price::UNKNOWN.is_known() && price("20000").is_known());
    let sum = Price::UNKNOWN.checked_add(price("0.1")).expect("sums stay in range");
    assert!(!sum.is_known(), "what is partly unknown is unknown");
    for text in ["-100%", "+10%", "-999999", "+1"] {
        let adjustment: PriceAdjustment = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(adjustment.apply(Price::UNKNOWN), Price::UNKNOWN, "{text}");
    }
    let set = PriceAdjustment::Absolute(price("0.3"));
    assert_eq!(set.apply(Price::UNKNOWN), price("0.3"));
}

#[test]
fn what_is_not_an_adjustment_is_refused() {
    for text in ["", "5", "10%", "+", "-", "+%", "-.%", "+5.", "+5.%", "+ 5", "++5", "+5%%"] {
        let error = PriceError::MalformedAdjustment { text: text.into() };
        assert_eq!(PriceAdjustment::parse(text), Err(error), "{text}");
    }
    for text in ["-101%", "-100.1%"] {
        let error = PriceError::BelowNothing { text: text.into() };
        assert_eq!(PriceAdjustment::parse(text), Err(error), "{text}");
    }
    let text = "+99999999999999999999";
    let error = PriceError::Overflow { text: text.into() };
    assert_eq!(PriceAdjustment::parse(text), Err(error));
}

#[test]
fn calculations_that_leave_the_range_say_so() {
    let most = Price::from_micros_per_hour(u64::MAX);
    assert_eq!(most.checked_add(price("0.000001")), None);
    assert_eq!(most.checked_mul(2), None);
    assert_eq!(Price::ZERO.checked_sub(price("0.1")), None);
    assert_eq!(price("0.1").checked_add(price("0.2")), Some(price("0.3")));
    assert_eq!(price("0.1").checked_mul(3), Some(price("0.3")));
    assert_eq!(price("0.3").checked_sub(price("0.1")), Some(price("0.2")));
}

#[test]
fn no_text_makes_the_readers_panic() {
    let tokens = ["+", "-", ".", "%", "0", "00", "100", "-100%", "18446744073709", "e"];
    arbitrary_text::for_arbitrary_texts(&tokens, |text| {
        let (price, adjustment) = (Price::parse(text).ok(), PriceAdjustment::parse(text).ok());
        if let Some(price) = price {
            assert_eq!(Price::parse(&price.to_string()), Ok(price));
        }
        if let Some(adjustment) = adjustment {
            let old = Price::from_micros_per_hour(1_000);
            let new = adjustment.apply(old);
            assert!(if text.starts_with('+') { new >= old } else { new <= old });
        }
        price.is_some() || adjustment.is_some()
    });
}

proptest! {
    #[test]
    fn what_is_printed_is_read_as_the_same_price(micros in any::<u64>(), shift in 0u32..64) {
        let price = Price::from_micros_per_hour(micros >> shift);
        prop_assert_eq!(Price::parse(&price.to_string()), Ok(price));
    }

    #[test]
    fn a_percentage_is_off_by_at_most_half_a_micro_dollar(
        micros in 0..1_000_000_000_000u64,
        micro_percent in -100_000_000..1_000_000_000i64,
    ) {
        let adjusted = PriceAdjustment::Percent { micro_percent }
            .apply(Price::from_micros_per_hour(micros));
        let exact = i128::from(micros) * (100_000_000 + i128::from(micro_percent));
        let off = i128::from(adjusted.micros_per_hour()) * 100_000_000 - exact;
        prop_assert!(off.abs() * 2 <= 100_000_000);
    }
}
