//! Quantities against the recordings of the reference.

mod recording;

use kerf_model::quantity::{Format, Quantity, QuantityError};
use serde_json::Value;

/// The reference caps binary amounts here; Kerf refuses what is larger.
const BINARY_CAP_NANOS: &str = "9223372036854775807000000000";

#[test]
fn every_recorded_text_is_read_as_the_reference_reads_it() {
    let mut refused_as_too_large = 0;
    for row in recording::rows("quantity", "parse") {
        let text = row["in"].as_str().expect("every row has a text");
        match Quantity::parse(text) {
            Err(QuantityError::Overflow { .. }) => {
                assert!(is_beyond_range(&row), "{text} should be read: {row}");
                refused_as_too_large += 1;
            }
            Err(error) => assert_eq!(row["error"], true, "{text}: {error}"),
            Ok(quantity) => check(text, quantity, &row),
        }
    }
    assert!(refused_as_too_large > 0, "the recordings hold amounts beyond the range");
}

/// Amounts that the reference caps, or that need more than 127 bits of nano-units, or whose
/// exponent the reference wraps around.
fn is_beyond_range(row: &Value) -> bool {
    let text = row["in"].as_str().expect("every row has a text");
    let nano = row["nano"].as_str().unwrap_or_default();
    let is_capped = row["format"] == "BinarySI" && nano.trim_start_matches('-') == BINARY_CAP_NANOS;
    is_capped || nano.parse::<i128>().is_err() || text == "1e4294967299"
}

fn check(text: &str, quantity: Quantity, row: &Value) {
    let format = match quantity.format() {
        Format::DecimalSi => "DecimalSI",
        Format::BinarySi => "BinarySI",
        Format::DecimalExponent => "DecimalExponent",
    };
    if text == "1e-4294967299" {
        // The reference wraps the exponent around to −3; Kerf rounds the sliver up to a nano-unit.
        assert_eq!(quantity.nanos(), 1);
        return;
    }
    assert_eq!(quantity.nanos().to_string(), row["nano"], "{text}");
    assert_eq!(format, row["format"], "{text}");
    if loses_suffix(quantity) {
        assert!(quantity.to_string().ends_with("000E"), "{text}");
    } else {
        assert_eq!(quantity.to_string(), row["text"], "{text}");
    }
    let wraps = row["wraps"].as_array().cloned().unwrap_or_default();
    for (name, value) in [("value", quantity.value()), ("milli", quantity.milli_value())] {
        if !wraps.contains(&name.into()) {
            assert_eq!(Some(value), row[name].as_i64().map(i128::from), "{name} of {text}");
        }
    }
}

/// The reference has no suffix for whole multiples of 10²¹ and prints the bare rest, `100` for
/// 10²⁹; Kerf keeps counting in `E`.
fn loses_suffix(quantity: Quantity) -> bool {
    let multiple_of_zetta = quantity.nanos() % 10i128.pow(30) == 0;
    quantity.format() == Format::DecimalSi && !quantity.is_zero() && multiple_of_zetta
}

#[test]
fn every_recorded_pair_is_compared_added_and_subtracted_as_the_reference_does() {
    let mut compared = 0;
    for row in recording::rows("quantity", "pairs") {
        let [a, b] = ["a", "b"].map(|name| row[name].as_str().expect("every row has two texts"));
        let (Ok(left), Ok(right)) = (Quantity::parse(a), Quantity::parse(b)) else { continue };
        if [a, b].contains(&"1e-4294967299") {
            continue;
        }
        let text = |result: Option<Quantity>| result.expect("in range").to_string();
        assert_eq!(text(left.checked_add(right)), row["sum"], "{a} + {b}");
        assert_eq!(text(left.checked_sub(right)), row["diff"], "{a} - {b}");
        assert_eq!(left.cmp(&right) as i64, row["cmp"], "{a} <=> {b}");
        compared += 1;
    }
    assert!(compared > 900, "only {compared} pairs could be compared");
}
