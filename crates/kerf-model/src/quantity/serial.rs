//! Quantities in serialised form: as Kubernetes prints them wherever that says everything.
//!
//! A text does not always: `0` may be a binary zero, `512` a binary amount below 1Ki, and a sum may
//! lie beyond what a binary suffix is read back from. Such a quantity is written as its nano-units
//! and its form, `0 BinarySI`, so that reading it back gives the same quantity in every respect.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use super::{Format, Quantity};

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_string();
        let is_exact = Quantity::parse(&text)
            .is_ok_and(|read| read.nanos == self.nanos && read.format == self.format);
        if is_exact {
            return serializer.serialize_str(&text);
        }
        serializer.collect_str(&format_args!("{} {}", self.nanos, self.format.name()))
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some((nanos, name)) = text.split_once(' ') else {
            return Quantity::parse(&text).map_err(D::Error::custom);
        };
        let malformed = || D::Error::custom(format_args!("{text:?} is no quantity"));
        let format = Format::ALL.into_iter().find(|format| format.name() == name);
        let nanos = nanos.parse().map_err(|_| malformed())?;
        Ok(Quantity { nanos, format: format.ok_or_else(malformed)? })
    }
}

impl Format {
    const ALL: [Format; 3] = [Format::DecimalSi, Format::BinarySi, Format::DecimalExponent];

    /// As Kubernetes' own code names it.
    const fn name(self) -> &'static str {
        match self {
            Format::DecimalSi => "DecimalSI",
            Format::BinarySi => "BinarySI",
            Format::DecimalExponent => "DecimalExponent",
        }
    }
}
