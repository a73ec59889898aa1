//! Prices from a file, for networks without a way to AWS's price list and for prices of one's own.

use std::path::Path;

use kerf_model::labels::well_known::{ON_DEMAND, SPOT};
use kerf_model::price::Price;
use serde_json::Value;
use thiserror::Error;

use super::prices::PriceTable;

/// The first line of a file of values that are parted by commas.
const HEADER: &str = "instance_type,capacity_type,zone,price";

/// Why a price file cannot be used. The file must change.
#[derive(Debug, Error)]
pub enum PriceFileError {
    /// It cannot be read at all.
    #[error("the price file cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is neither JSON nor what a table begins with.
    #[error("the price file is neither JSON nor a table with the first line {HEADER}: {0}")]
    Json(serde_json::Error),
    /// A line or a field holds something else than a price.
    #[error("the price file at {place}: {why}")]
    Malformed {
        /// A line or a field.
        place: String,
        /// What would be right.
        why: String,
    },
}

/// Reads a file.
pub(crate) fn load(path: &Path) -> Result<PriceTable, PriceFileError> {
    parse(&std::fs::read_to_string(path)?)
}

/// Reads `{"onDemand": {TYPE: PRICE}, "spot": {TYPE: {ZONE: PRICE}}}`, or a table of values parted
/// by commas. Prices are dollars per hour.
fn parse(text: &str) -> Result<PriceTable, PriceFileError> {
    match text.lines().next().map(str::trim) {
        Some(HEADER) => table(text),
        _ => json(&serde_json::from_str(text).map_err(PriceFileError::Json)?),
    }
}

fn table(text: &str) -> Result<PriceTable, PriceFileError> {
    let mut prices = PriceTable::default();
    for (index, line) in text.lines().enumerate().skip(1) {
        let place = || format!("line {}", index + 1);
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        match fields[..] {
            [""] => {}
            [name, ON_DEMAND, "", amount] => {
                prices.on_demand.insert(name.to_owned(), price(amount, place)?);
            }
            [name, SPOT, zone, amount] if !zone.is_empty() => {
                prices.set_spot(name, zone, price(amount, place)?);
            }
            _ => {
                let why = "expected a type, on-demand without a zone or spot with one, and a price";
                return Err(malformed(place(), why));
            }
        }
    }
    Ok(prices)
}

fn json(object: &Value) -> Result<PriceTable, PriceFileError> {
    let mut prices = PriceTable::default();
    for (field, types) in fields(object, "the whole")? {
        for (name, value) in fields(types, field)? {
            let place = || format!("{field}.{name}");
            match field.as_str() {
                "onDemand" => {
                    prices.on_demand.insert(name.clone(), json_price(value, place)?);
                }
                "spot" => {
                    for (zone, value) in fields(value, &place())? {
                        let place = || format!("{field}.{name}.{zone}");
                        prices.set_spot(name, zone, json_price(value, place)?);
                    }
                }
                _ => return Err(malformed(field.clone(), "expected onDemand or spot")),
            }
        }
    }
    Ok(prices)
}

fn fields<'a>(
    value: &'a Value,
    place: &str,
) -> Result<&'a serde_json::Map<String, Value>, PriceFileError> {
    value.as_object().ok_or_else(|| malformed(place.to_owned(), "expected an object"))
}

fn json_price(value: &Value, place: impl Fn() -> String) -> Result<Price, PriceFileError> {
    match value {
        Value::String(text) => price(text, place),
        Value::Number(number) => price(&number.to_string(), place),
        _ => Err(malformed(place(), "expected dollars per hour such as 0.096")),
    }
}

fn price(text: &str, place: impl Fn() -> String) -> Result<Price, PriceFileError> {
    let price = Price::parse(text).map_err(|error| malformed(place(), &error.to_string()))?;
    match price > Price::ZERO {
        true => Ok(price),
        false => Err(malformed(place(), "expected a price above zero")),
    }
}

fn malformed(place: String, why: &str) -> PriceFileError {
    PriceFileError::Malformed { place, why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_a_table_say_the_same() {
        let json = r#"{"onDemand": {"m5.large": "0.0960", "c5.large": 0.085},
            "spot": {"m5.large": {"eu-west-1a": 0.031}}}"#;
        let table = "instance_type,capacity_type,zone,price\n\
            m5.large,on-demand,,0.096\nc5.large, on-demand,,0.085\n\n\
            m5.large,spot,eu-west-1a,0.031\n";
        let read = parse(json).expect("it is well formed");
        assert_eq!(read, parse(table).expect("it is well formed"));
        assert_eq!(read.on_demand["c5.large"].micros_per_hour(), 85_000);
        assert_eq!(read.spot["m5.large"]["eu-west-1a"].micros_per_hour(), 31_000);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let header = HEADER;
        for (text, parts) in [
            (r#"{"onDemand": {"m5.large": 0}}"#.to_owned(), ["onDemand.m5.large", "above zero"]),
            (r#"{"spot": {"m5.large": 0.1}}"#.to_owned(), ["spot.m5.large", "an object"]),
            (r#"{"reserved": {"m5.large": 0.1}}"#.to_owned(), ["reserved", "onDemand or spot"]),
            (r#"{"onDemand": {"m5.large": true}}"#.to_owned(), ["m5.large", "such as 0.096"]),
            (format!("{header}\nm5.large,spot,,0.1"), ["line 2", "spot with one"]),
            (format!("{header}\nm5.large,on-demand,,-1"), ["line 2", "-1"]),
            ("type;price".to_owned(), ["neither JSON", HEADER]),
        ] {
            let message = parse(&text).expect_err(&text).to_string();
            for part in parts {
                assert!(message.contains(part), "{text}: {message}");
            }
        }
    }
}
