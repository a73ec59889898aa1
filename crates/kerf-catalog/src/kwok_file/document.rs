//! The members of the file, and the way between them and the model.

use std::collections::BTreeMap;

use kerf_model::instance_type::{InstanceType, Offering, Reservation};
use kerf_model::labels::{check_label_value, well_known};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::{CPU, MEMORY, ResourceList};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::error::{FileError, OfferingProblem, ResourceProblem};
use super::instance_type::InstanceTypeFacts;

/// How the key of a label that names a reservation ends.
const RESERVATION_ID_SUFFIX: &str = "reservation-id";
/// Micro-dollars in a dollar.
const MICROS_PER_DOLLAR: f64 = 1e6;

/// One type in the file.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstanceTypeDocument {
    #[serde(default)]
    name: String,
    offerings: Option<Vec<OfferingDocument>>,
    #[serde(default)]
    architecture: String,
    operating_systems: Option<Vec<String>>,
    resources: Option<BTreeMap<String, Value>>,
}

/// One offering. The provider writes these members with capitals and reads either.
#[derive(Deserialize, Serialize)]
struct OfferingDocument {
    #[serde(rename = "Price", alias = "price")]
    price: Option<Number>,
    #[serde(rename = "Available", alias = "available", default, skip_deserializing)]
    available: bool,
    #[serde(
        rename = "ReservationCapacity",
        alias = "reservationCapacity",
        skip_serializing_if = "Option::is_none"
    )]
    reservation_capacity: Option<i64>,
    #[serde(rename = "Requirements", alias = "requirements")]
    requirements: Option<Vec<RequirementDocument>>,
}

/// One requirement of an offering.
#[derive(Deserialize, Serialize)]
struct RequirementDocument {
    #[serde(alias = "Key")]
    key: String,
    #[serde(alias = "Operator")]
    operator: String,
    #[serde(alias = "Values")]
    values: Option<Vec<String>>,
}

impl InstanceTypeDocument {
    /// Reads the type at a place of the list.
    pub(super) fn read(self, index: usize) -> Result<InstanceTypeFacts, FileError> {
        let name = self.name;
        if name.is_empty() || check_label_value(&name).is_err() {
            return Err(FileError::Name { number: index + 1, name });
        }
        let missing = |field| Err(FileError::Missing { name: name.clone(), field });
        if self.architecture.is_empty() {
            return missing("architecture");
        }
        let operating_systems = self.operating_systems.unwrap_or_default();
        if operating_systems.is_empty() {
            return missing("operatingSystems");
        }
        let resources = read_resources(&self.resources.unwrap_or_default()).map_err(
            |(resource, problem)| FileError::Resource { name: name.clone(), resource, problem },
        )?;
        let mut offerings = Vec::new();
        for (place, offering) in self.offerings.unwrap_or_default().into_iter().enumerate() {
            let offering = offering.read(&name).map_err(|problem| FileError::Offering {
                name: name.clone(),
                number: place + 1,
                problem,
            })?;
            offerings.push(offering);
        }
        let architecture = self.architecture;
        Ok(InstanceTypeFacts { name, architecture, operating_systems, resources, offerings })
    }

    /// What the file can say about a type.
    pub(super) fn write(instance_type: &InstanceType) -> Self {
        let values = |key: &str| {
            let entry = instance_type.requirements.iter().find(|entry| entry.key == key);
            entry.map(|entry| entry.values.clone()).unwrap_or_default()
        };
        let text = |(name, amount): (&str, Quantity)| (name.to_owned(), amount.to_string().into());
        Self {
            name: instance_type.name.clone(),
            offerings: Some(instance_type.offerings.iter().map(OfferingDocument::write).collect()),
            architecture: values(well_known::ARCH).into_iter().next().unwrap_or_default(),
            operating_systems: Some(values(well_known::OS)),
            resources: Some(instance_type.capacity.iter().map(text).collect()),
        }
    }
}

impl OfferingDocument {
    fn read(self, type_name: &str) -> Result<Offering, OfferingProblem> {
        let price = read_price(&self.price.ok_or(OfferingProblem::NoPrice)?)?;
        let requirements = self.requirements.unwrap_or_default().into_iter();
        let requirements =
            requirements.map(RequirementDocument::read).collect::<Result<Vec<_>, _>>()?;
        let zone = value(&requirements, well_known::ZONE)?;
        let capacity_type = value(&requirements, well_known::CAPACITY_TYPE)?;
        if !well_known::CAPACITY_TYPES.contains(&capacity_type) {
            return Err(OfferingProblem::CapacityType(capacity_type.to_owned()));
        }
        let reservation = if capacity_type == well_known::RESERVED {
            let capacity = self.reservation_capacity.unwrap_or(0);
            let remaining = u32::try_from(capacity)
                .map_err(|_| OfferingProblem::ReservationCapacity(capacity))?;
            let named =
                requirements.iter().find(|entry| entry.key.ends_with(RESERVATION_ID_SUFFIX));
            let id = named.and_then(|entry| entry.values.first()).cloned();
            // A reservation without a name is a type's only one in its zone.
            Some(Reservation { id: id.unwrap_or_else(|| format!("{type_name}/{zone}")), remaining })
        } else {
            None
        };
        Ok(Offering {
            requirements: requirements.into(),
            price,
            available: true,
            reservation,
            capacity_override: ResourceList::new(),
            overhead_override: None,
        })
    }

    fn write(offering: &Offering) -> Self {
        // Division by a million keeps the digits of every price below nine billion dollars.
        let dollars = offering.price.micros_per_hour() as f64 / MICROS_PER_DOLLAR;
        let remaining = offering.reservation.as_ref().map(|held| i64::from(held.remaining));
        Self {
            price: Number::from_f64(dollars),
            available: offering.available,
            reservation_capacity: remaining,
            requirements: Some(
                offering.requirements.iter().map(RequirementDocument::write).collect(),
            ),
        }
    }
}

impl RequirementDocument {
    fn read(self) -> Result<RequirementEntry, OfferingProblem> {
        let (key, values) = (self.key, self.values.unwrap_or_default());
        let Ok(operator) = self.operator.parse::<Operator>() else {
            return Err(OfferingProblem::Operator { key, operator: self.operator });
        };
        let compares =
            matches!(operator, Operator::Gt | Operator::Lt | Operator::Gte | Operator::Lte);
        let is_number = |values: &[String]| matches!(values, [n] if n.parse::<i64>().is_ok());
        if compares && !is_number(&values) {
            return Err(OfferingProblem::Bound { key });
        }
        Ok(RequirementEntry { key, operator, values, min_values: None })
    }

    fn write(entry: &RequirementEntry) -> Self {
        Self {
            key: entry.key.clone(),
            operator: entry.operator.to_string(),
            values: Some(entry.values.clone()),
        }
    }
}

/// The first value an offering must have for a label.
fn value<'a>(
    requirements: &'a [RequirementEntry],
    key: &'static str,
) -> Result<&'a str, OfferingProblem> {
    let is_told = |entry: &&RequirementEntry| entry.key == key && entry.operator == Operator::In;
    let entry = requirements.iter().find(is_told);
    let first = entry.and_then(|entry| entry.values.first());
    first.map(String::as_str).ok_or(OfferingProblem::NoValue { key })
}

/// Reads dollars per hour. Rust prints numbers without an exponent, which prices cannot have.
fn read_price(number: &Number) -> Result<Price, OfferingProblem> {
    let text = match number.as_f64() {
        Some(dollars) if number.is_f64() => dollars.to_string(),
        _ => number.to_string(),
    };
    Ok(Price::parse(&text)?)
}

type NamedProblem = (String, ResourceProblem);

fn read_resources(resources: &BTreeMap<String, Value>) -> Result<ResourceList, NamedProblem> {
    let mut list = ResourceList::new();
    for (name, value) in resources {
        let amount = read_quantity(value).map_err(|problem| (name.clone(), problem))?;
        list.insert(name.as_str(), amount);
    }
    for name in [CPU, MEMORY] {
        if list.get(name).is_none() {
            return Err((name.to_owned(), ResourceProblem::Missing));
        }
    }
    Ok(list)
}

fn read_quantity(value: &Value) -> Result<Quantity, ResourceProblem> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => return Err(ResourceProblem::NotAQuantity(other.to_string())),
    };
    let amount = Quantity::parse(&text)?;
    if amount.is_negative() { Err(ResourceProblem::Negative(text)) } else { Ok(amount) }
}
