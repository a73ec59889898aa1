//! Quantities: what is read, printed, refused and computed.

mod arbitrary_text;

use std::cmp::Ordering;

use kerf_model::quantity::{Format, Quantity, QuantityError};
use proptest::prelude::*;

/// Text, canonical text, nano-units.
const READ: &[(&str, &str, i128)] = &[
    ("0", "0", 0),
    ("1", "1", 1_000_000_000),
    ("1500m", "1500m", 1_500_000_000),
    ("1.5", "1500m", 1_500_000_000),
    ("1.500", "1500m", 1_500_000_000),
    (".5", "500m", 500_000_000),
    ("5.", "5", 5_000_000_000),
    ("+5", "5", 5_000_000_000),
    ("-5", "-5", -5_000_000_000),
    ("007", "7", 7_000_000_000),
    ("1000", "1k", 1_000_000_000_000),
    ("1000m", "1", 1_000_000_000),
    ("100n", "100n", 100),
    ("1000n", "1u", 1_000),
    ("3u", "3u", 3_000),
    ("1024Mi", "1Gi", 1_073_741_824_000_000_000),
    ("0.5Gi", "512Mi", 536_870_912_000_000_000),
    ("1.5Gi", "1536Mi", 1_610_612_736_000_000_000),
    ("0.5Ki", "512", 512_000_000_000),
    ("0.1Ki", "102400m", 102_400_000_000),
    ("1.1Ki", "1126400m", 1_126_400_000_000),
    ("0.0005Ki", "512m", 512_000_000),
    ("1000Ki", "1000Ki", 1_024_000_000_000_000),
    ("7Ei", "7Ei", 8_070_450_532_247_928_832_000_000_000),
    ("1E", "1E", 1_000_000_000_000_000_000_000_000_000),
    ("1e3", "1e3", 1_000_000_000_000),
    ("1E3", "1e3", 1_000_000_000_000),
    ("1E-3", "1e-3", 1_000_000),
    ("12e5", "1200e3", 1_200_000_000_000_000),
    ("1000e-3", "1", 1_000_000_000),
    ("100E", "100E", 100_000_000_000_000_000_000_000_000_000),
    ("1000E", "1000E", 1_000_000_000_000_000_000_000_000_000_000),
    ("0e99", "0", 0),
    // Finer than a nano-unit: away from zero, however little it is.
    ("0.1n", "1n", 1),
    ("-0.1n", "-1n", -1),
    ("1.0000000001", "1000000001n", 1_000_000_001),
    ("1e-999999999999", "1e-9", 1),
    ("0.00000000000000000001Ki", "1n", 1),
    // No digits at all is zero, as long as Kubernetes thinks so.
    ("+", "0", 0),
    (".", "0", 0),
    ("Ti", "0", 0),
    ("e-9", "0", 0),
];

#[test]
fn each_spelling_is_read_exactly_and_printed_canonically() {
    for (text, canonical, nanos) in READ {
        let quantity = Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(quantity.nanos(), *nanos, "{text}");
        assert_eq!(quantity.to_string(), *canonical, "{text}");
    }
}

#[test]
fn what_is_not_a_quantity_is_refused_with_its_reason() {
    let suffix = |text: &str, suffix: &str| QuantityError::UnknownSuffix {
        text: text.into(),
        suffix: suffix.into(),
    };
    assert_eq!(Quantity::parse(""), Err(QuantityError::Empty));
    for (text, rest) in [
        ("1K", "K"),
        ("1 Gi", " Gi"),
        (" 1", " 1"),
        ("1.2.3", ".3"),
        ("1e", "e"),
        ("1e+", "e+"),
        ("1_000", "_000"),
        ("--1", "-1"),
        ("1e99999999999999999999", "e99999999999999999999"),
        ("½", "½"),
    ] {
        assert_eq!(Quantity::parse(text), Err(suffix(text, rest)), "{text}");
    }
    for text in ["Ei", ".Pi", "-Ei", "e-10"] {
        let error = QuantityError::NoDigits { text: text.into() };
        assert_eq!(Quantity::parse(text), Err(error), "{text}");
    }
}

#[test]
fn amounts_that_cannot_be_kept_exactly_are_refused_instead_of_capped() {
    assert_eq!(Quantity::parse("7.999Ei").map(|quantity| quantity.is_negative()), Ok(false));
    for text in ["8Ei", "-8Ei", "9223372036854775808Ki", "1e30", "1e4294967299", "1e999999999999"] {
        let error = QuantityError::Overflow { text: text.into() };
        assert_eq!(Quantity::parse(text), Err(error), "{text}");
    }
    let largest = Quantity::from_nanos(i128::MAX, Format::DecimalSi);
    assert_eq!(Quantity::parse(&largest.to_string()), Ok(largest));
}

#[test]
fn values_are_rounded_away_from_zero() {
    for (text, value, milli) in [
        ("1500m", 2, 1_500),
        ("-1500m", -2, -1_500),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("2", 2, 2_000),
        ("1Gi", 1_073_741_824, 1_073_741_824_000),
    ] {
        let quantity: Quantity = text.parse().expect("the table holds quantities");
        assert_eq!((quantity.value(), quantity.milli_value()), (value, milli), "{text}");
    }
}

#[test]
fn equality_ignores_how_an_amount_was_written() {
    let quantities = ["1Gi", "1024Mi", "1073741824", "1073741824e0", "1073741824000m"];
    let quantities = quantities.map(|text| Quantity::parse(text).expect("a quantity"));
    let distinct: std::collections::HashSet<Quantity> = quantities.into_iter().collect();
    assert_eq!(distinct.len(), 1);
    assert_eq!(Quantity::from_bytes(1 << 30), quantities[0]);
    assert_eq!(Quantity::from_milli(1_500), Quantity::parse("1.5").expect("a quantity"));
    assert_eq!(Quantity::from_int(-3), Quantity::parse("-3").expect("a quantity"));
}

#[test]
fn a_sum_keeps_the_left_form_unless_the_left_is_zero() {
    for (left, right, sum, difference) in [
        ("1Gi", "1G", "2073741824", "73741824"),
        ("1G", "1Gi", "2073741824", "-73741824"),
        ("1Ki", "1k", "2024", "24"),
        ("0", "1Gi", "1Gi", "-1Gi"),
        ("0Gi", "1500m", "1500m", "-1500m"),
        ("1e3", "1", "1001", "999"),
        ("1", "1e3", "1001", "-999"),
        ("2Gi", "1024", "2097153Ki", "2097151Ki"),
        ("1e3", "1k", "2e3", "0"),
    ] {
        let [a, b] = [left, right].map(|text| Quantity::parse(text).expect("a quantity"));
        let text = |result: Option<Quantity>| result.expect("in range").to_string();
        assert_eq!(text(a.checked_add(b)), sum, "{left} + {right}");
        assert_eq!(text(a.checked_sub(b)), difference, "{left} - {right}");
    }
}

#[test]
fn calculations_that_leave_the_range_say_so() {
    let [most, least] = [i128::MAX, i128::MIN].map(|n| Quantity::from_nanos(n, Format::DecimalSi));
    let one = Quantity::from_int(1);
    assert_eq!(most.checked_add(one), None);
    assert_eq!(least.checked_sub(one), None);
    assert_eq!(least.checked_neg(), None);
    assert_eq!(most.checked_mul(2), None);
    assert_eq!(most.saturating_add(one), most);
    assert_eq!(least.saturating_sub(one), least);
    assert_eq!(one.checked_mul(-7), Some(Quantity::from_int(-7)));
    assert_eq!(one.checked_neg(), Some(Quantity::from_int(-1)));
}

#[test]
fn no_text_makes_the_reader_panic_and_what_it_reads_it_reads_again() {
    let tokens = [
        "+",
        "-",
        ".",
        "0",
        "n",
        "u",
        "m",
        "k",
        "M",
        "G",
        "T",
        "P",
        "E",
        "Ki",
        "Mi",
        "Gi",
        "Ti",
        "Pi",
        "Ei",
        "e",
        "e-",
        "E+",
        "i",
        "1e",
        "000",
        "999999999",
        "9223372036854775807",
    ];
    arbitrary_text::for_arbitrary_texts(&tokens, |text| {
        let Ok(quantity) = Quantity::parse(text) else { return false };
        assert_eq!(Quantity::parse(&quantity.to_string()), Ok(quantity));
        true
    });
}

/// A written quantity beside the fraction it stands for, computed without the code under test.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    numerator: i128,
    denominator: i128,
}

/// Numbers small enough that sums of two fractions stay exact in 128 bits.
fn written() -> impl Strategy<Value = Written> {
    const SUFFIXES: [(&str, i128, i128); 9] = [
        ("u", 1, 1_000_000),
        ("m", 1, 1_000),
        ("", 1, 1),
        ("k", 1_000, 1),
        ("M", 1_000_000, 1),
        ("Ki", 1 << 10, 1),
        ("Gi", 1 << 30, 1),
        ("e2", 100, 1),
        ("E-4", 1, 10_000),
    ];
    let parts = (any::<bool>(), 0..1_000i128, 0..100i128, prop::sample::select(&SUFFIXES[..]));
    parts.prop_map(|(negative, whole, hundredths, (suffix, times, over))| {
        let sign = if negative { "-" } else { "" };
        let magnitude = (whole * 100 + hundredths) * times;
        Written {
            text: format!("{sign}{whole}.{hundredths:02}{suffix}"),
            numerator: if negative { -magnitude } else { magnitude },
            denominator: 100 * over,
        }
    })
}

impl Written {
    fn quantity(&self) -> Quantity {
        Quantity::parse(&self.text).expect("written quantities are valid")
    }

    fn compare(&self, other: &Written) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

fn any_quantity() -> impl Strategy<Value = Quantity> {
    let format =
        prop::sample::select(vec![Format::DecimalSi, Format::BinarySi, Format::DecimalExponent]);
    (any::<i64>(), 0u32..18, format).prop_map(|(number, zeros, format)| {
        let nanos = i128::from(number) * 10i128.pow(zeros);
        // No text can name a larger binary amount.
        let binary_max = i128::from(i64::MAX) * 1_000_000_000;
        let fits = format != Format::BinarySi || nanos.abs() <= binary_max;
        Quantity::from_nanos(if fits { nanos } else { nanos % binary_max }, format)
    })
}

/// As in Kubernetes: a binary amount that is no multiple of 1024 is spelled without a suffix, and
/// whoever reads that takes it for a decimal one.
#[test]
fn a_binary_amount_without_a_binary_spelling_becomes_a_decimal_one() {
    let binary = Quantity::from_nanos(5_000_000_000_000, Format::BinarySi);
    assert_eq!(binary.to_string(), "5000");
    let read = Quantity::parse("5000").unwrap();
    assert_eq!((read, read.to_string()), (binary, "5k".to_owned()));
}

proptest! {
    #[test]
    fn order_is_the_order_of_the_exact_fractions(a in written(), b in written()) {
        prop_assert_eq!(a.quantity().cmp(&b.quantity()), a.compare(&b));
    }

    #[test]
    fn a_sum_is_the_exact_sum_of_the_fractions(a in written(), b in written()) {
        let sum = a.quantity().checked_add(b.quantity()).expect("small numbers");
        let exact_numerator = a.numerator * b.denominator + b.numerator * a.denominator;
        let exact_denominator = a.denominator * b.denominator;
        prop_assert_eq!(sum.nanos() * exact_denominator, exact_numerator * 1_000_000_000);
        prop_assert_eq!(sum.checked_sub(b.quantity()), Some(a.quantity()));
    }

    #[test]
    fn what_is_printed_is_read_as_the_same_amount(quantity in any_quantity()) {
        let text = quantity.to_string();
        let read = Quantity::parse(&text);
        prop_assert_eq!(read.clone(), Ok(quantity), "{}", &text);
        let settled = read.map(|again| again.to_string()).unwrap();
        prop_assert_eq!(Quantity::parse(&settled).map(|again| again.to_string()), Ok(settled));
    }

    #[test]
    fn rounded_values_enclose_the_amount(quantity in any_quantity()) {
        let over = quantity.value().abs() * 1_000_000_000 - quantity.nanos().abs();
        prop_assert!((0..1_000_000_000).contains(&over));
        let over = quantity.milli_value().abs() * 1_000_000 - quantity.nanos().abs();
        prop_assert!((0..1_000_000).contains(&over));
    }
}
